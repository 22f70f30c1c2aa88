"""Who may: roles and permissions."""

from models.chat.errors import ChatError


class UnauthorizedPrincipal(ChatError):
    """The operation wants a higher role."""

    code = "UNAUTHORIZED_PRINCIPAL"


class MustBeOwner(UnauthorizedPrincipal):
    sentence = "Must be an organization owner"


class MustBeAdministrator(UnauthorizedPrincipal):
    sentence = "Must be an organization administrator"


class MustBeMember(UnauthorizedPrincipal):
    sentence = "Must be an organization member"


class InsufficientPermission(ChatError):
    sentence = "Insufficient permission"


class NotAllowedForGuests(ChatError):
    sentence = "Not allowed for guest users"


class NotForBots(ChatError):
    sentence = "This endpoint does not accept bot requests."
