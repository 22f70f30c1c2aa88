"""Scheduled messages and idempotency keys."""

from models.chat.errors import ChatError


class ScheduledMessageDoesNotExist(ChatError):
    """Unknown, or somebody else's: the two look the same."""

    sentence = "Scheduled message does not exist"


class ScheduledMessageAlreadySent(ChatError):
    sentence = "Scheduled message was already sent"


class DeliveryTimeNotInFuture(ChatError):
    sentence = "Scheduled delivery time must be in the future."


class RecipientRequired(ChatError):
    sentence = "Recipient required when updating type of scheduled message."


class TopicRequired(ChatError):
    sentence = "Topic required when updating scheduled message type to channel."


class IdempotencyKeyReused(ChatError):
    """The key was used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )


class IdempotencyInProgress(ChatError):
    """The first request with this key has not finished within the lock timeout."""

    code = "IDEMPOTENCY_IN_PROGRESS"
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
