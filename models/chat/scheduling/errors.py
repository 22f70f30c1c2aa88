"""Scheduled messages."""

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


class InvalidRecipientType(ChatError):
    """`to` has a type that this kind of message does not take. Facts: `what`."""

    sentence = "Invalid data type for {what}"
    advice = "Send a channel's id or name, or an array of users' ids or of their emails."
