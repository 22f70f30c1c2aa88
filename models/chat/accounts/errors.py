"""Administering people: making them, changing them, deactivating them."""

from models.chat.errors import ChatError, RefusedCommand


class UserCreationNotAllowed(ChatError):
    """The operator has not given the right to make users."""

    sentence = "User not authorized to create users"
    advice = "Ask the operator of the server, who gives the right with `specd chat grant`."


class EmailChangeNotAllowed(ChatError):
    """The operator has not given the right to change others' emails."""

    sentence = "User not authorized to change user emails"
    advice = "Ask the operator of the server, who gives the right with `specd chat grant`."


class BadNameOrUsername(ChatError):
    """The email of a new user is none."""

    sentence = "Bad name or username"
    advice = "Send an address such as `name@example.com` as `email`."


class GuestCannotAdminister(ChatError):
    """A guest was to get a role or a right of administrators."""

    sentence = "Guests cannot be organization administrators"
    advice = "Make the guest a member first, or choose somebody else."


class OnlyOwnerRole(ChatError):
    """Somebody must own the organization."""

    sentence = "The owner permission cannot be removed from the only organization owner."
    advice = "Make somebody else an owner first."


class OnlyOwner(ChatError):
    """The only owner was to be deactivated."""

    sentence = "Cannot deactivate the only organization owner"
    advice = "Make somebody else an owner first."


class LastUser(ChatError):
    """One leaves nobody behind, or no owner. Facts: `is_last_owner`, `entity`."""

    code = "CANNOT_DEACTIVATE_LAST_USER"
    sentence = "Cannot deactivate the only {entity}."
    advice = "Make somebody else an owner before you leave; the last person cannot leave at all."

    def __init__(self, *, is_last_owner: bool) -> None:
        entity = "organization owner" if is_last_owner else "user"
        super().__init__(is_last_owner=is_last_owner, entity=entity)


class NoUserWithEmail(RefusedCommand):
    """Facts: `email`."""

    sentence = "There is no user {email} in this organization; use their real email."


class PasswordTooWeak(ChatError):
    """Too short, too long or too easy to guess."""

    sentence = "The password is too weak."
    advice = "Choose a longer password that nobody would guess."
