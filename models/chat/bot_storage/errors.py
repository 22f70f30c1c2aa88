"""Bot storage."""

from models.chat.errors import ChatError


class StorageKeyDoesNotExist(ChatError):
    """Nothing is stored under one of the keys. Other users' keys are not looked at."""

    sentence = "Key does not exist."
    advice = "Use keys that `GET /bot_storage` without `keys` returns."


class StorageKeyTooLong(ChatError):
    """A key has more characters than a key can have. Facts: `limit`."""

    sentence = "A key is too long (limit: {limit} characters)."
    advice = "Store the value under a shorter key."


class StorageLimitExceeded(ChatError):
    """The caller would store more characters, keys included, than the operator permits. Facts:
    `excess`, `limit`.
    """

    sentence = (
        "Request exceeds storage limit by {excess} characters. The limit is {limit} characters."
    )
    advice = "Remove what is no longer used with `DELETE /bot_storage`."
