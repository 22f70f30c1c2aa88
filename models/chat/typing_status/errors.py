"""Typing notifications."""

from models.chat.errors import ChatError


class NobodyToNotify(ChatError):
    """The list of users is empty."""

    sentence = "Empty 'to' list"
    advice = "Send the ids of the users in the conversation as `to`."


class ChannelTypingDisabled(ChatError):
    """The caller has disabled the setting `send_stream_typing_notifications`."""

    sentence = "User has disabled typing notifications for channel messages"
    advice = "Change the setting with `PATCH /settings`, or send no notifications."


class DirectTypingDisabled(ChatError):
    """The caller has disabled the setting `send_private_typing_notifications`."""

    sentence = "User has disabled typing notifications for direct messages"
    advice = "Change the setting with `PATCH /settings`, or send no notifications."
