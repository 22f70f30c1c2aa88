"""Organizations: what the command line refuses."""

from models.chat.errors import ChatError


class RefusedCommand(ChatError):
    """What only the operator meets, at the command line: no caller ever sees it over HTTP."""


class HostInUse(RefusedCommand):
    """Facts: `host`."""

    sentence = "An organization already lives at {host}; choose another host."


class InvalidHost(RefusedCommand):
    """Facts: `host`."""

    sentence = "{host} is not a host name; write it without scheme, port and path."


class InvalidRealmName(RefusedCommand):
    sentence = "Give the organization a name of 1 to 40 characters."


class RealmDoesNotExist(RefusedCommand):
    """Facts: `realm`."""

    sentence = "There is no organization {realm}; use the realm_id that create-realm printed."


class NoUserWithEmail(RefusedCommand):
    """Facts: `email`."""

    sentence = "There is no user {email} in this organization; use their real email."


class UnknownRealmSetting(RefusedCommand):
    """Facts: `name`, `hint`."""

    sentence = "{name} is not a setting of an organization: {hint}"
