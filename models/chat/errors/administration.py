"""Administering people: making them, changing them, deactivating them."""

from models.chat.errors import ChatError


class UserCreationNotAllowed(ChatError):
    """The operator has not given the right to make users."""

    sentence = "User not authorized to create users"


class EmailChangeNotAllowed(ChatError):
    """The operator has not given the right to change others' emails."""

    sentence = "User not authorized to change user emails"


class BadNameOrUsername(ChatError):
    """The email of a new user is none."""

    sentence = "Bad name or username"


class GuestCannotAdminister(ChatError):
    sentence = "Guests cannot be organization administrators"


class OnlyOwnerRole(ChatError):
    """Somebody must own the organization."""

    sentence = "The owner permission cannot be removed from the only organization owner."


class OnlyOwner(ChatError):
    sentence = "Cannot deactivate the only organization owner"


class LastUser(ChatError):
    """One leaves nobody behind, or no owner. Facts: `is_last_owner`, `entity`."""

    code = "CANNOT_DEACTIVATE_LAST_USER"
    sentence = "Cannot deactivate the only {entity}."

    def __init__(self, *, is_last_owner: bool) -> None:
        entity = "organization owner" if is_last_owner else "user"
        super().__init__(is_last_owner=is_last_owner, entity=entity)
