"""User administration: creation, changes and deactivation."""

from models.chat.errors import ChatError, RefusedCommand


class UserCreationNotAllowed(ChatError):
    """The operator has not granted the caller the right to create users."""

    sentence = "User not authorized to create users"
    advice = "Ask the operator of the server to grant the right with `specd chat grant`."


class EmailChangeNotAllowed(ChatError):
    """The operator has not granted the caller the right to change other users' emails."""

    sentence = "User not authorized to change user emails"
    advice = "Ask the operator of the server to grant the right with `specd chat grant`."


class AvatarChangesDisabled(ChatError):
    """Only administrators may change their avatars in the organization."""

    sentence = "Avatar changes are disabled in this organization."
    advice = "Ask an administrator to change the setting `avatar_changes_disabled`."


class NotOneAvatar(ChatError):
    """The request contains no file, or more than one."""

    sentence = "You must upload exactly one avatar."
    advice = "Send one file as a part of a `multipart/form-data` body, with a file name."


class BadNameOrUsername(ChatError):
    """The email of the new user is not an email address."""

    sentence = "Bad name or username"
    advice = "Send an address such as `name@example.com` as `email`."


class GuestCannotAdminister(ChatError):
    """A guest cannot get a role or a right of an administrator."""

    sentence = "Guests cannot be organization administrators"
    advice = "Make the guest a member first, or choose another user."


class OnlyOwnerRole(ChatError):
    """The user is the only owner, and an organization needs an owner."""

    sentence = "The owner permission cannot be removed from the only organization owner."
    advice = "Make another user an owner first."


class OnlyOwner(ChatError):
    """The only owner of an organization cannot be deactivated."""

    sentence = "Cannot deactivate the only organization owner"
    advice = "Make another user an owner first."


class LastUser(ChatError):
    """The caller is the last user or the last owner of the organization. Facts: `is_last_owner`,
    `entity`.
    """

    code = "CANNOT_DEACTIVATE_LAST_USER"
    sentence = "Cannot deactivate the only {entity}."
    advice = "Make another user an owner before you leave. The last user cannot leave."

    def __init__(self, *, is_last_owner: bool) -> None:
        entity = "organization owner" if is_last_owner else "user"
        super().__init__(is_last_owner=is_last_owner, entity=entity)


class NoUserWithEmail(RefusedCommand):
    """Facts: `email`."""

    sentence = "There is no user {email} in this organization; use their real email."


class PasswordTooWeak(ChatError):
    """The password is too short, too long or too easy to guess."""

    sentence = "The password is too weak."
    advice = "Choose a longer password that is hard to guess."
