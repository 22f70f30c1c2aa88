"""Scheduled messages and reminders."""

from models.chat.errors import ChatError


class ScheduledMessageDoesNotExist(ChatError):
    """The message is unknown or belongs to another user. The response is the same for both."""

    sentence = "Scheduled message does not exist"
    advice = "Use an id that `GET /scheduled_messages` returns."


class ReminderDoesNotExist(ChatError):
    """The reminder is unknown, belongs to another user, or was delivered. The response is the same
    for all.
    """

    sentence = "Reminder does not exist"
    advice = "Use an id that `GET /reminders` returns."


class ScheduledMessageAlreadySent(ChatError):
    """The message was sent before this request could change or delete it."""

    sentence = "Scheduled message was already sent"
    advice = "Edit or delete the sent message."


class DeliveryTimeNotInFuture(ChatError):
    """The delivery time is not in the future."""

    sentence = "Scheduled delivery time must be in the future."
    advice = "Send a later `scheduled_delivery_timestamp`, in Unix seconds."


class RecipientRequired(ChatError):
    """The request changes the type, but contains no new recipient."""

    sentence = "Recipient required when updating type of scheduled message."
    advice = "Send `to` together with `type`."


class TopicRequired(ChatError):
    """The request turns the message into a channel message, but contains no topic."""

    sentence = "Topic required when updating scheduled message type to channel."
    advice = "Send `topic` together with `type`."


class InvalidRecipientType(ChatError):
    """`to` has a type that this kind of message does not accept. Facts: `what`."""

    sentence = "Invalid data type for {what}"
    advice = "Send the id or the name of a channel, or an array of user ids, or an array of emails."
