"""Organizations: what the command line refuses."""

from models.chat.errors import ChatError


class HostInUse(ChatError):
    """Facts: `host`."""

    sentence = "An organization already lives at {host}; choose another host."


class InvalidHost(ChatError):
    """Facts: `host`."""

    sentence = "{host} is not a host name; write it without scheme, port and path."


class InvalidRealmName(ChatError):
    sentence = "Give the organization a name of 1 to 40 characters."


class RealmDoesNotExist(ChatError):
    """Facts: `realm`."""

    sentence = "There is no organization {realm}; use the realm_id that create-realm printed."


class NoUserWithEmail(ChatError):
    """Facts: `email`."""

    sentence = "There is no user {email} in this organization; use their real email."


class UnknownRealmSetting(ChatError):
    """Facts: `name`, `hint`."""

    sentence = "{name} is not a setting of an organization: {hint}"
