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


class ValidationFailure(ChatError):
    """A field of the new object violates a rule. Facts: `problem`, `errors` (field -> problems)."""

    sentence = "{problem}"
    advice = "Correct the fields that `errors` names."


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
