"""One's own settings, passwords and email addresses."""

from models.chat.errors import ChatError


class NotForOthers(ChatError):
    """Administrators cannot change this for other users."""

    sentence = "Cannot change this setting for other users."


class NoTargets(ChatError):
    sentence = "Either user_ids or group_ids must be provided."


class WrongPassword(ChatError):
    sentence = "Wrong password!"


class NewPasswordTooWeak(ChatError):
    sentence = "New password is too weak!"


class TooManyAttempts(ChatError):
    """Facts: `seconds`, until the next one."""

    sentence = "You're making too many attempts! Try again in {seconds} seconds."


class InvalidDefaultLanguage(ChatError):
    sentence = "Invalid default_language"


class InvalidNotificationSound(ChatError):
    """Facts: `sound`."""

    sentence = "Invalid notification sound '{sound}'"


class InvalidBatchingPeriod(ChatError):
    """Facts: `seconds`."""

    sentence = "Invalid email batching period: {seconds} seconds"


class EmailChangesDisabled(ChatError):
    sentence = "Email address changes are disabled in this organization."


class RealEmailWanted(ChatError):
    """The new address is one of a provider of throw-away addresses."""

    sentence = "Please use your real email address."


class ConfirmationNotFound(ChatError):
    """Unknown, used, expired, or replaced by a later one: they look the same."""

    sentence = "The confirmation link is unknown, was used already or has expired."
