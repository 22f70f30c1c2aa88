"""Deleting messages."""

from models.chat.errors import ChatError


class MessageAlreadyDeleted(ChatError):
    """Somebody deleted the message first."""

    sentence = "Message already deleted"
    advice = "Nothing is left to do."


class DeletionNotAllowed(ChatError):
    """A setting of the organization or the channel lets only others delete it."""

    sentence = "You don't have permission to delete this message"
    advice = "Ask an administrator or a moderator to delete it."


class DeletionTooLate(ChatError):
    """The message is older than one's own messages may be deleted."""

    sentence = "The time limit for deleting this message has passed"
    advice = "Ask an administrator or a moderator to delete it."
