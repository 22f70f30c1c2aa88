"""One's own settings, passwords and email addresses."""

from models.chat.errors import ChatError


class NotForOthers(ChatError):
    """Administrators cannot change this for other users."""

    sentence = "Cannot change this setting for other users."
    advice = "Leave the setting to each user."


class NoTargets(ChatError):
    """Neither users nor groups were named."""

    sentence = "Either user_ids or group_ids must be provided."
    advice = "Send `user_ids`, `group_ids` or both."


class WrongPassword(ChatError):
    """`old_password` is not the present password."""

    sentence = "Wrong password!"
    advice = "Send the present password."


class NewPasswordTooWeak(ChatError):
    """The new password is too short or too easy to guess."""

    sentence = "New password is too weak!"
    advice = "Choose a longer password that nobody would guess."


class TooManyAttempts(ChatError):
    """Too many wrong passwords were tried. Facts: `seconds`, until the next one."""

    sentence = "You're making too many attempts! Try again in {seconds} seconds."
    advice = "Wait for so many seconds."


class InvalidDefaultLanguage(ChatError):
    """There is no such language."""

    sentence = "Invalid default_language"
    advice = "Send a code such as `en` or `de`."


class InvalidNotificationSound(ChatError):
    """There is no such sound. Facts: `sound`."""

    sentence = "Invalid notification sound '{sound}'"
    advice = "Send `zulip`, `ding` or `none`."


class InvalidBatchingPeriod(ChatError):
    """The period is shorter than a second or longer than a week. Facts: `seconds`."""

    sentence = "Invalid email batching period: {seconds} seconds"
    advice = "Send seconds from 1 to 604800."


class EmailChangesDisabled(ChatError):
    """The organization lets only administrators change addresses."""

    sentence = "Email address changes are disabled in this organization."
    advice = "Ask an administrator."


class RealEmailWanted(ChatError):
    """The new address is one of a provider of throw-away addresses."""

    sentence = "Please use your real email address."
    advice = "Use a lasting address."


class ConfirmationNotFound(ChatError):
    """Unknown, used, expired, or replaced by a later one: they look the same."""

    sentence = "The confirmation link is unknown, was used already or has expired."
    advice = "Ask for the change of address again, and use the newest mail."
