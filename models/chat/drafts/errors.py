"""Drafts."""

from models.chat.errors import ChatError


class DraftsNotSynchronized(ChatError):
    """The caller has turned off the setting `enable_drafts_synchronization`."""

    sentence = "User has disabled synchronizing drafts."
    advice = "Keep drafts in the client, or turn `enable_drafts_synchronization` on."


class DraftDoesNotExist(ChatError):
    """The draft is unknown or belongs to another user. The answer is the same for both."""

    sentence = "Draft does not exist"
    advice = "Use an id that `GET /drafts` returns."


class OneChannelRequired(ChatError):
    """A draft to a channel names no channel, or more than one."""

    sentence = "Must specify exactly 1 channel ID for channel messages"
    advice = "Send the id of one channel as `to`."


class NegativeTimestamp(ChatError):
    """The time of a draft is before 1970."""

    sentence = "Timestamp must not be negative."
    advice = "Send Unix seconds, or leave `timestamp` out."
