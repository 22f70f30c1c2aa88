"""Organizations: settings, email domains, linkifiers and playgrounds."""

from models.chat.errors import ChatError, RefusedCommand


class HostInUse(RefusedCommand):
    """Facts: `host`."""

    sentence = "An organization already lives at {host}; choose another host."


class InvalidRealmName(RefusedCommand):
    sentence = "Give the organization a name of 1 to 40 characters."


class RealmDoesNotExist(RefusedCommand):
    """Facts: `realm`."""

    sentence = "There is no organization {realm}; use the realm_id that create-realm printed."


class RealmStopped(RefusedCommand):
    """The organization is moving to another installation, or has moved. Facts: `realm`."""

    sentence = "The organization {realm} is stopped here, because it moves or has moved elsewhere."


class UnknownRealmSetting(RefusedCommand):
    """Facts: `name`, `hint`."""

    sentence = "{name} is not a setting of an organization: {hint}"


class ValidationFailure(ChatError):
    """A field of the new object violates a rule. Facts: `problem`, `errors` (field -> problems)."""

    sentence = "{problem}"
    advice = "Correct the fields in `errors`."


class InvalidEmojiName(ChatError):
    """The name contains characters that are not permitted."""

    sentence = (
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes,"
        " underscores, and periods."
    )
    advice = "Send a name such as `party_parrot`."


class EmojiNameEnds(ChatError):
    """The name ends with a dash, an underscore or a period."""

    sentence = "Emoji names must end with either a letter or digit."
    advice = "Send a name such as `party_parrot`."


class EmojiNameTooLong(ChatError):
    """The name is too long. Facts: `limit`, in characters."""

    sentence = "Emoji names can have at most {limit} characters."
    advice = "Send a shorter name."


class EmojiNameTaken(ChatError):
    """The organization already has an emoji with this name."""

    sentence = "A custom emoji with this name already exists."
    advice = "Send another name, or delete the emoji first."


class BuiltInEmoji(ChatError):
    """A Unicode emoji has this name, and the user is not an administrator."""

    sentence = "Only administrators can override default emoji."
    advice = "Send another name."


class CustomEmojiNotFound(ChatError):
    """The organization has no active emoji with this name. Facts: `name`."""

    sentence = "Emoji '{name}' does not exist"
    advice = "Use a name that `GET /realm/emoji` returns."


class NotEmojiAuthor(ChatError):
    """The user is not an administrator, and another user added the emoji."""

    sentence = "Must be an organization administrator or emoji author"
    advice = "Ask an administrator."


class InvalidPlayground(ChatError):
    """The organization has no playground with this id."""

    sentence = "Invalid playground"
    advice = "Use the id that `POST /realm/playgrounds` returned."


class InvalidLanguage(ChatError):
    """The name of the language contains a character that no language name contains."""

    sentence = "Invalid characters in pygments language"
    advice = "Use a language name of Pygments, such as `Python`."


class InvalidDomain(ChatError):
    """The text is not a domain name. Facts: `problem`."""

    sentence = "Invalid domain: {problem}"
    advice = "Send a name such as `example.com`."


class DomainExists(ChatError):
    """The organization already has this domain. Facts: `domain`."""

    sentence = "The domain {domain} is already a part of your organization."
    advice = "Change the domain with `PATCH /realm/domains/{domain}`."


class NoSuchDomain(ChatError):
    """The organization has no such domain. Facts: `domain`."""

    sentence = "No entry found for domain {domain}."
    advice = "Use a domain that `GET /realm/domains` returns."


class LinkifierNotFound(ChatError):
    """The organization has no linkifier with this id."""

    sentence = "Linkifier not found."
    advice = "Use an id that `GET /realm/linkifiers` returns."


class InvalidLinkifierOrder(ChatError):
    """The order does not contain every linkifier exactly once."""

    sentence = "The ordered list must enumerate all existing linkifiers exactly once"
    advice = "Send the id of every linkifier exactly once."
