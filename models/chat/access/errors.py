"""Permissions: roles, channels, groups, and the users that a request names."""

from models.chat.errors import ChatError


class UnauthorizedPrincipal(ChatError):
    """The operation requires a higher role."""

    code = "UNAUTHORIZED_PRINCIPAL"
    advice = "Call the operation as a user with the role in `msg`, or ask an administrator."


class MustBeOwner(UnauthorizedPrincipal):
    """The caller is not an organization owner."""

    sentence = "Must be an organization owner"


class MustBeAdministrator(UnauthorizedPrincipal):
    """The caller is not an organization administrator."""

    sentence = "Must be an organization administrator"


class MustBeMember(UnauthorizedPrincipal):
    """The caller is a guest."""

    sentence = "Must be an organization member"


class InsufficientPermission(ChatError):
    """A setting of the organization, the channel or the group does not give the caller this
    permission.
    """

    sentence = "Insufficient permission"
    advice = (
        "Ask an administrator for the permission; `GET /user_groups` shows which users have it."
    )


class NotAllowedForGuests(ChatError):
    """The caller is a guest."""

    sentence = "Not allowed for guest users"
    advice = "Call the operation as a member."


class NotForBots(ChatError):
    """The caller is a bot."""

    sentence = "This endpoint does not accept bot requests."
    advice = "Call the operation with a person's API key."


class InvalidChannelId(ChatError):
    """The channel is unknown, belongs to another organization or is hidden from the caller. The
    response is the same for all three.
    """

    sentence = "Invalid channel ID"
    advice = "Use a `stream_id` that `GET /streams` or `GET /users/me/subscriptions` returns."


class InvalidChannelName(ChatError):
    """The caller cannot see a channel with this name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"
    advice = "Use a name that `GET /streams` returns."


class NoSuchUser(ChatError):
    """The user is unknown, belongs to another organization or is hidden from the caller."""

    sentence = "No such user"
    advice = "Use an id or an email that `GET /users` returns."


class UserIsDeactivated(ChatError):
    """The user is deactivated."""

    sentence = "User is deactivated"
    advice = "Choose another user, or reactivate this one first."


class InvalidUserId(ChatError):
    """The user is unknown, or cannot be used here. Facts: `user_id`."""

    sentence = "Invalid user ID: {user_id}"
    advice = "Use an id that `GET /users` returns."


class InvalidUserGroup(ChatError):
    """The group is unknown, belongs to another organization or is an anonymous group."""

    sentence = "Invalid user group"
    advice = "Use the id of a group that `GET /user_groups` returns."


class UserGroupDeactivated(ChatError):
    """The group is deactivated."""

    sentence = "User group is deactivated."
    advice = "Choose another group."


class UserGroupExists(ChatError):
    """Another group has this name. Facts: `name`."""

    sentence = "User group '{name}' already exists."
    advice = "Choose another name."


class InvalidUserGroupName(ChatError):
    """A group cannot have this name. Facts: `problem`, such as `can't be empty!`."""

    sentence = "User group name {problem}"
    advice = "Choose a name that follows the rule in `msg`."


class GroupNotAllowed(ChatError):
    """The setting does not accept this system group. Facts: `setting`, `group`."""

    sentence = "'{setting}' setting cannot be set to '{group}' group."
    advice = "Choose another group."


class ExpectedValueMismatch(ChatError):
    """Another request has changed the setting, so `old` is not the stored value."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'old' value does not match the expected value."
    advice = "Read the setting again, and send its current value as `old`."
