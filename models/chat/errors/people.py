"""People, their status, and groups of people."""

from models.chat.errors import ChatError


class NoSuchUser(ChatError):
    """Unknown, another organization's, or not to be found this way by the one who asks."""

    sentence = "No such user"


class UserIsDeactivated(ChatError):
    sentence = "User is deactivated"


class InvalidUserId(ChatError):
    """Facts: `user_id`."""

    sentence = "Invalid user ID: {user_id}"


class NoNewStatus(ChatError):
    sentence = "Client did not pass any new values."


class EmojiCodeWithoutName(ChatError):
    sentence = "Client must pass emoji_name if they pass either emoji_code or reaction_type."


class EmojiDoesNotExist(ChatError):
    """Facts: `name`."""

    sentence = "Emoji '{name}' does not exist"


class InvalidEmoji(ChatError):
    """Name, code and type of an emoji do not fit together. Facts: `what`."""

    sentence = "Invalid {what}."


class EmailInUse(ChatError):
    """Facts: `email`."""

    sentence = "Email '{email}' already in use"


class PasswordTooWeak(ChatError):
    """Too short, too long or too easy to guess."""

    sentence = "The password is too weak."


class EmailNotAllowed(ChatError):
    """Not of one of the organization's domains. Facts: `email`."""

    sentence = "Email '{email}' not allowed in this organization"


class DisposableEmail(ChatError):
    sentence = "Disposable email addresses are not allowed in this organization"


class EmailContainsPlus(ChatError):
    sentence = "Email addresses containing + are not allowed."


class NameTooShort(ChatError):
    sentence = "Name too short!"


class NameTooLong(ChatError):
    sentence = "Name too long!"


class InvalidCharactersInName(ChatError):
    sentence = "Invalid characters in name!"


class InvalidNameFormat(ChatError):
    """A name that ends like a mention's `|id`."""

    sentence = "Invalid format!"


class UniqueNamesRequired(ChatError):
    sentence = "Unique names required in this organization."


class InvalidUserGroup(ChatError):
    """Unknown, another organization's, or an anonymous one named by its id."""

    sentence = "Invalid user group"


class UserGroupDeactivated(ChatError):
    sentence = "User group is deactivated."


class UserGroupExists(ChatError):
    """Facts: `name`."""

    sentence = "User group '{name}' already exists."


class InvalidUserGroupName(ChatError):
    """Facts: `problem`, such as `can't be empty!`."""

    sentence = "User group name {problem}"


class GroupNotAllowed(ChatError):
    """A system group that a setting does not take. Facts: `setting`, `group`."""

    sentence = "'{setting}' setting cannot be set to '{group}' group."


class ExpectedValueMismatch(ChatError):
    """Somebody else changed the setting first (the `old` value is not the stored one)."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'old' value does not match the expected value."
