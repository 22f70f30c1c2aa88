"""Users: names, email addresses and statuses."""

from models.chat.errors import ChatError


class InvalidEmail(ChatError):
    """The text is no email address."""

    sentence = "Enter a valid email address."
    advice = "Send an address such as `name@example.com`."


class NoNewStatus(ChatError):
    """Neither text nor emoji was sent."""

    sentence = "Client did not pass any new values."
    advice = "Send `status_text`, `emoji_name` or both; empty ones clear the status."


class EmojiCodeWithoutName(ChatError):
    """A code or type of an emoji was sent without its name."""

    sentence = "Client must pass emoji_name if they pass either emoji_code or reaction_type."
    advice = "Send `emoji_name` too."


class EmojiDoesNotExist(ChatError):
    """There is no emoji of this name. Facts: `name`."""

    sentence = "Emoji '{name}' does not exist"
    advice = "Use the name of one of Unicode's emoji, such as `tada`."


class InvalidEmoji(ChatError):
    """Name, code and type of an emoji do not fit together. Facts: `what`."""

    sentence = "Invalid {what}."
    advice = "Send `emoji_name` alone, and the server finds the rest."


class EmailInUse(ChatError):
    """Another account has the address. Facts: `email`."""

    sentence = "Email '{email}' already in use"
    advice = "Choose another address."


class EmailNotAllowed(ChatError):
    """Not of one of the organization's domains. Facts: `email`."""

    sentence = "Email '{email}' not allowed in this organization"
    advice = "Use an address of one of the organization's domains."


class DisposableEmail(ChatError):
    """The address is one of a provider of throw-away addresses."""

    sentence = "Disposable email addresses are not allowed in this organization"
    advice = "Use a lasting address."


class EmailContainsPlus(ChatError):
    """The address has a part after a `+`."""

    sentence = "Email addresses containing + are not allowed."
    advice = "Use the address without it."


class NameTooShort(ChatError):
    """The name has fewer than two characters."""

    sentence = "Name too short!"
    advice = "Choose a longer name."


class NameTooLong(ChatError):
    """The name has more than 100 characters."""

    sentence = "Name too long!"
    advice = "Choose a shorter name."


class InvalidCharactersInName(ChatError):
    """The name holds characters that formatting or mentions use."""

    sentence = "Invalid characters in name!"
    advice = "Leave out characters such as `*`, `>`, `@` and quotes."


class InvalidNameFormat(ChatError):
    """A name that ends like a mention's `|id`, or has a link in it."""

    sentence = "Invalid format!"
    advice = "Leave out the `|` and the number at the end, and web addresses."


class NameIsReserved(ChatError):
    """The name is, or looks like, that of a system bot, which speaks for the organization."""

    sentence = "This name is reserved."
    advice = "Choose a name that nobody takes for the organization's own bot."


class UniqueNamesRequired(ChatError):
    """Somebody else has the name, or one that looks like it; the organization wants them unique."""

    sentence = "Unique names required in this organization."
    advice = "Choose another name."
