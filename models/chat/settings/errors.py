"""Personal settings, passwords and email addresses."""

from models.chat.errors import ChatError


class NotForOthers(ChatError):
    """Administrators cannot change this setting for other users."""

    sentence = "Cannot change this setting for other users."
    advice = "Let each user change the setting."


class NoTargets(ChatError):
    """The request names neither users nor groups."""

    sentence = "Either user_ids or group_ids must be provided."
    advice = "Send `user_ids`, `group_ids` or both."


class WrongPassword(ChatError):
    """`old_password` is not the current password."""

    sentence = "Wrong password!"
    advice = "Send the current password."


class NewPasswordTooWeak(ChatError):
    """The new password is too short or too easy to guess."""

    sentence = "New password is too weak!"
    advice = "Choose a longer password that is hard to guess."


class TooManyAttempts(ChatError):
    """The caller sent too many wrong passwords. Facts: `seconds`, until the next attempt."""

    sentence = "You're making too many attempts! Try again in {seconds} seconds."
    advice = "Wait the number of seconds in `msg`."


class InvalidDefaultLanguage(ChatError):
    """The server has no such language."""

    sentence = "Invalid default_language"
    advice = "Send a code such as `en` or `de`."


class InvalidNotificationSound(ChatError):
    """The server has no such sound. Facts: `sound`."""

    sentence = "Invalid notification sound '{sound}'"
    advice = "Send `zulip`, `ding` or `none`."


class InvalidBatchingPeriod(ChatError):
    """The period is shorter than one second or longer than one week. Facts: `seconds`."""

    sentence = "Invalid email batching period: {seconds} seconds"
    advice = "Send a number of seconds from 1 to 604800."


class EmailChangesDisabled(ChatError):
    """The organization permits only administrators to change addresses."""

    sentence = "Email address changes are disabled in this organization."
    advice = "Ask an administrator to change the address."


class RealEmailWanted(ChatError):
    """The new address belongs to a provider of disposable addresses."""

    sentence = "Please use your real email address."
    advice = "Use a non-disposable email address."


class ConfirmationNotFound(ChatError):
    """The link is unknown, used, expired or replaced by a later link. The response is the same for
    all four.
    """

    sentence = "The confirmation link is unknown, was used already or has expired."
    advice = "Request the change of address again, and use the link in the newest email."
