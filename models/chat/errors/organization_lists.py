"""What an organization keeps lists of: code playgrounds and email domains."""

from models.chat.errors import ChatError


class ValidationFailure(ChatError):
    """A field of a new thing breaks a rule. Facts: `problem`, `errors` (field -> problems)."""

    sentence = "{problem}"


class InvalidPlayground(ChatError):
    sentence = "Invalid playground"


class InvalidLanguage(ChatError):
    sentence = "Invalid characters in pygments language"


class InvalidDomain(ChatError):
    """Facts: `problem`."""

    sentence = "Invalid domain: {problem}"


class DomainExists(ChatError):
    """Facts: `domain`."""

    sentence = "The domain {domain} is already a part of your organization."


class NoSuchDomain(ChatError):
    """Facts: `domain`."""

    sentence = "No entry found for domain {domain}."


class LinkifierNotFound(ChatError):
    sentence = "Linkifier not found."


class InvalidLinkifierOrder(ChatError):
    sentence = "The ordered list must enumerate all existing linkifiers exactly once"
