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


class UnknownRealmSetting(RefusedCommand):
    """Facts: `name`, `hint`."""

    sentence = "{name} is not a setting of an organization: {hint}"


class ExpectedValueMismatch(ChatError):
    """Somebody else changed the setting first (the `old` value is not the stored one)."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'old' value does not match the expected value."
    advice = "Read the setting again, and send its present value as `old`."


class ValidationFailure(ChatError):
    """A field of a new thing breaks a rule. Facts: `problem`, `errors` (field -> problems)."""

    sentence = "{problem}"
    advice = "Correct the fields that `errors` names."


class InvalidPlayground(ChatError):
    """The organization has no playground of this id."""

    sentence = "Invalid playground"
    advice = "Use an id that creating it returned."


class InvalidLanguage(ChatError):
    """The name of the language holds characters that no such name has."""

    sentence = "Invalid characters in pygments language"
    advice = "Use a name of Pygments' list, such as `Python`."


class InvalidDomain(ChatError):
    """The text is no domain. Facts: `problem`."""

    sentence = "Invalid domain: {problem}"
    advice = "Send a name such as `example.com`."


class DomainExists(ChatError):
    """The domain was added before. Facts: `domain`."""

    sentence = "The domain {domain} is already a part of your organization."
    advice = "Change it with `PATCH /realm/domains/{domain}`."


class NoSuchDomain(ChatError):
    """The organization has no such domain. Facts: `domain`."""

    sentence = "No entry found for domain {domain}."
    advice = "Use a domain that `GET /realm/domains` returns."


class LinkifierNotFound(ChatError):
    """The organization has no linkifier of this id."""

    sentence = "Linkifier not found."
    advice = "Use an id that `GET /realm/linkifiers` returns."


class InvalidLinkifierOrder(ChatError):
    """Not every linkifier is in the order, or one is twice."""

    sentence = "The ordered list must enumerate all existing linkifiers exactly once"
    advice = "Send every linkifier's id exactly once."
