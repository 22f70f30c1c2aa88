"""Permissions: roles, channels, groups, and the users that a request names."""

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


class InvalidChannelId(ChatError):
    """Unknown, another organization's, or one that may not be seen: all the same."""

    sentence = "Invalid channel ID"
    advice = "Use a `stream_id` that `GET /streams` or `GET /users/me/subscriptions` returns."


class InvalidChannelName(ChatError):
    """Like `InvalidChannelId`, by name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"
    advice = "Use a name that `GET /streams` returns."


class NoSuchUser(ChatError):
    """Unknown, another organization's, or not to be found this way by the one who asks."""

    sentence = "No such user"
    advice = "Use an id or an email that `GET /users` returns."


class UserIsDeactivated(ChatError):
    """The user was deactivated."""

    sentence = "User is deactivated"
    advice = "Choose somebody else, or reactivate the user first."


class InvalidUserId(ChatError):
    """No user of the organization has this id, or it cannot be used here. Facts: `user_id`."""

    sentence = "Invalid user ID: {user_id}"
    advice = "Use an id that `GET /users` returns."


class InvalidUserGroup(ChatError):
    """Unknown, another organization's, or an anonymous one named by its id."""

    sentence = "Invalid user group"
    advice = "Use the id of a group that `GET /user_groups` returns."


class UserGroupDeactivated(ChatError):
    """The group was deactivated."""

    sentence = "User group is deactivated."
    advice = "Choose another group."


class UserGroupExists(ChatError):
    """Another group has the name. Facts: `name`."""

    sentence = "User group '{name}' already exists."
    advice = "Choose another name."


class InvalidUserGroupName(ChatError):
    """Groups cannot have this name. Facts: `problem`, such as `can't be empty!`."""

    sentence = "User group name {problem}"
    advice = "Choose a name that `msg` does not refuse."


class GroupNotAllowed(ChatError):
    """A system group that a setting does not take. Facts: `setting`, `group`."""

    sentence = "'{setting}' setting cannot be set to '{group}' group."
    advice = "Choose another group."
