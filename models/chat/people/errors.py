"""Users: names, email addresses, statuses and emoji."""

from models.chat.errors import ChatError


class InvalidEmail(ChatError):
    """The text is not an email address."""

    sentence = "Enter a valid email address."
    advice = "Send an address such as `name@example.com`."


class NoNewStatus(ChatError):
    """The request contains neither a text nor an emoji."""

    sentence = "Client did not pass any new values."
    advice = "Send `status_text`, `emoji_name` or both. Empty values clear the status."


class EmojiCodeWithoutName(ChatError):
    """The request contains the code or the type of an emoji, but not its name."""

    sentence = "Client must pass emoji_name if they pass either emoji_code or reaction_type."
    advice = "Send `emoji_name` too."


class EmojiDoesNotExist(ChatError):
    """No emoji has this name. Facts: `name`."""

    sentence = "Emoji '{name}' does not exist"
    advice = "Use the name of a Unicode emoji, such as `tada`."


class InvalidEmoji(ChatError):
    """The name, the code and the type of the emoji do not match. Facts: `what`."""

    sentence = "Invalid {what}."
    advice = "Send `emoji_name` alone; the server determines the code and the type."


class CustomEmojiDeactivated(ChatError):
    """The organization no longer uses this emoji."""

    sentence = "This custom emoji has been deactivated."
    advice = "Choose another emoji."


class EmailInUse(ChatError):
    """Another account has this address. Facts: `email`."""

    sentence = "Email '{email}' already in use"
    advice = "Choose another address."


class EmailNotAllowed(ChatError):
    """The address does not belong to a domain of the organization. Facts: `email`."""

    sentence = "Email '{email}' not allowed in this organization"
    advice = "Use an address of one of the organization's domains."


class DisposableEmail(ChatError):
    """The address belongs to a provider of disposable addresses."""

    sentence = "Disposable email addresses are not allowed in this organization"
    advice = "Use a non-disposable email address."


class EmailContainsPlus(ChatError):
    """The address contains a `+`."""

    sentence = "Email addresses containing + are not allowed."
    advice = "Use the address without the `+` and the text after it."


class NameTooShort(ChatError):
    """The name has fewer than two characters."""

    sentence = "Name too short!"
    advice = "Choose a longer name."


class NameTooLong(ChatError):
    """The name has more than 100 characters."""

    sentence = "Name too long!"
    advice = "Choose a shorter name."


class InvalidCharactersInName(ChatError):
    """The name contains characters of formatting or mentions."""

    sentence = "Invalid characters in name!"
    advice = "Remove characters such as `*`, `>`, `@` and quotes."


class InvalidNameFormat(ChatError):
    """The name contains a link, or ends in `|` and a number like a mention."""

    sentence = "Invalid format!"
    advice = "Remove web addresses, and the `|` and the number at the end."


class NameIsReserved(ChatError):
    """The name equals or resembles the name of a system bot, which sends messages for the
    organization.
    """

    sentence = "This name is reserved."
    advice = "Choose a name that differs clearly from the names of system bots."


class UniqueNamesRequired(ChatError):
    """The organization requires unique names, and another user has this name or a similar one."""

    sentence = "Unique names required in this organization."
    advice = "Choose another name."
