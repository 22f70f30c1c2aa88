"""Deleting messages."""

from models.chat.errors import ChatError


class MessageAlreadyDeleted(ChatError):
    """Another request deleted the message first."""

    sentence = "Message already deleted"
    advice = "No action is needed."


class DeletionNotAllowed(ChatError):
    """A setting of the organization or the channel does not permit the caller to delete the
    message.
    """

    sentence = "You don't have permission to delete this message"
    advice = "Ask an administrator or a moderator to delete the message."


class DeletionTooLate(ChatError):
    """The message is older than the time limit for deletion."""

    sentence = "The time limit for deleting this message has passed"
    advice = "Ask an administrator or a moderator to delete the message."
