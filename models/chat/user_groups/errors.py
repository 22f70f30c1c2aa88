"""Changes of user groups."""

from models.chat.errors import ChatError


class InvalidUserGroupId(ChatError):
    """A group of a list is unknown, belongs to another organization or is an anonymous group.
    Facts: `group_id`.
    """

    sentence = "Invalid user group ID: {group_id}"
    advice = "Use ids of groups that `GET /user_groups` returns."


class NoNewGroupData(ChatError):
    """The request does not change the group."""

    sentence = "No new data supplied"
    advice = "Send at least one of the parameters that change the group."


class NoMembersToChange(ChatError):
    """The request contains neither users nor groups."""

    sentence = (
        'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or '
        '"delete_subgroups".'
    )
    advice = "Send at least one non-empty list."


class NoSubgroupsToChange(ChatError):
    """The request contains no groups."""

    sentence = 'Nothing to do. Specify at least one of "add" or "delete".'
    advice = "Send at least one non-empty list."


class AlreadyGroupMember(ChatError):
    """A user to add is a direct member already. Facts: `user_id`."""

    sentence = "User {user_id} is already a member of this group"
    advice = "Omit the user; `members` of `GET /user_groups` lists the direct members."


class NotGroupMember(ChatError):
    """A user to remove is not a direct member. Facts: `user_id`."""

    sentence = "There is no member '{user_id}' in this user group"
    advice = "Omit the user; `members` of `GET /user_groups` lists the direct members."


class AlreadySubgroup(ChatError):
    """A group to add is a direct subgroup already. Facts: `group_id`."""

    sentence = "User group {group_id} is already a subgroup of this group."
    advice = "Omit the group; `direct_subgroup_ids` of `GET /user_groups` lists the subgroups."


class NotSubgroup(ChatError):
    """A group to remove is not a direct subgroup. Facts: `group_id`."""

    sentence = "User group {group_id} is not a subgroup of this group."
    advice = "Omit the group; `direct_subgroup_ids` of `GET /user_groups` lists the subgroups."


class SubgroupCycle(ChatError):
    """The group would become a subgroup of itself, directly or through others. Facts:
    `group_id`.
    """

    sentence = "User group {group_id} is already a subgroup of one of the passed subgroups."
    advice = "Omit this group and the groups that contain it."


class GroupInUse(ChatError):
    """The group has permissions or is a subgroup. Facts: `objections`, which lists the uses."""

    code = "CANNOT_DEACTIVATE_GROUP_IN_USE"
    sentence = "Cannot deactivate user group in use."
    advice = "Change the settings and supergroups in `objections` to other groups first."
