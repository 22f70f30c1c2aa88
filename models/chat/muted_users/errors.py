"""Muted users."""

from models.chat.errors import ChatError


class CannotMuteSelf(ChatError):
    """The caller tries to mute their own account."""

    sentence = "Cannot mute self"
    advice = "Send the id of another user."


class UserAlreadyMuted(ChatError):
    """The caller has already muted the user."""

    sentence = "User already muted"
    advice = "Treat the user as muted."


class UserNotMuted(ChatError):
    """The caller has not muted the user."""

    sentence = "User is not muted"
    advice = "Treat the user as not muted."
