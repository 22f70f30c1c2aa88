"""Scheduled messages and idempotency keys."""

from models.chat.errors import ChatError


class ScheduledMessageDoesNotExist(ChatError):
    """Unknown, or somebody else's: the two look the same."""

    sentence = "Scheduled message does not exist"
    advice = "Use an id that `GET /scheduled_messages` returns."


class ScheduledMessageAlreadySent(ChatError):
    """It was sent before it could be changed or deleted."""

    sentence = "Scheduled message was already sent"
    advice = "Edit or delete the message itself."


class DeliveryTimeNotInFuture(ChatError):
    """The time to send it is now or past."""

    sentence = "Scheduled delivery time must be in the future."
    advice = "Send a later `scheduled_delivery_timestamp`, in Unix seconds."


class RecipientRequired(ChatError):
    """The type changes, and no new recipient was sent."""

    sentence = "Recipient required when updating type of scheduled message."
    advice = "Send `to` together with `type`."


class TopicRequired(ChatError):
    """The message becomes one to a channel, and no topic was sent."""

    sentence = "Topic required when updating scheduled message type to channel."
    advice = "Send `topic` together with `type`."


class IdempotencyKeyReused(ChatError):
    """The key was used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )
    advice = (
        "Send a fresh `Idempotency-Key` with each new request; the old one only to repeat its own."
    )


class IdempotencyInProgress(ChatError):
    """The first request with this key has not finished within the lock timeout."""

    code = "IDEMPOTENCY_IN_PROGRESS"
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
    advice = "Wait for the seconds that `Retry-After` says, then send the same request again."
