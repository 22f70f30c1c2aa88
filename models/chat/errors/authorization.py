"""Who may: roles and permissions."""

from models.chat.errors import ChatError


class UnauthorizedPrincipal(ChatError):
    """The operation wants a higher role."""

    code = "UNAUTHORIZED_PRINCIPAL"
    advice = "Call it as somebody with the role that `msg` names, or ask an administrator."


class MustBeOwner(UnauthorizedPrincipal):
    """Who asks is no owner."""

    sentence = "Must be an organization owner"


class MustBeAdministrator(UnauthorizedPrincipal):
    """Who asks is no administrator."""

    sentence = "Must be an organization administrator"


class MustBeMember(UnauthorizedPrincipal):
    """Who asks is a guest."""

    sentence = "Must be an organization member"


class InsufficientPermission(ChatError):
    """A setting of the organization, the channel or the group lets only others do this."""

    sentence = "Insufficient permission"
    advice = "Ask an administrator for the permission; `GET /user_groups` tells who holds it."


class NotAllowedForGuests(ChatError):
    """Who asks is a guest."""

    sentence = "Not allowed for guest users"
    advice = "Call it as a member."


class NotForBots(ChatError):
    """Who asks is a bot."""

    sentence = "This endpoint does not accept bot requests."
    advice = "Call it with a person's API key."
