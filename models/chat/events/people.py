"""Events of users and the groups they belong to."""

from collections.abc import Sequence
from typing import Required, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject


class RealmUserAddEvent(ClientEvent, type="realm_user", op="add"):
    """A user was created. Sent to everybody who may see the user.

    `person` comes from `models.chat.people.view.describe_new_user`.
    """

    person: WireObject


class FieldValue(TypedDict, total=False):
    """A user's value of a custom profile field; null clears the value.

    `rendered_value`, HTML, comes with fields of text.
    """

    id: Required[int]
    value: Required[str | None]
    rendered_value: str


class PersonChange(TypedDict, total=False):
    """One change of a user: a single field, or the four of the picture.

    `delivery_email` is null for users who may no longer see the real email.
    """

    full_name: str
    role: int
    is_active: bool
    is_deleted: bool
    timezone: str
    bot_owner_id: int
    delivery_email: str | None
    new_email: str
    avatar_source: str
    avatar_url: str
    avatar_url_medium: str
    avatar_version: int
    custom_profile_field: FieldValue


class Person(PersonChange):
    """A user and what has changed about the user."""

    user_id: Required[int]


class RealmUserUpdateEvent(ClientEvent, type="realm_user", op="update"):
    """A user has changed. Sent to everybody who may see the user and the change."""

    person: Person


class RealmBotAddEvent(ClientEvent, type="realm_bot", op="add"):
    """A bot was created, or other users manage it. Sent to these users: its owner and the
    administrators.

    `bot` comes from `models.chat.people.bots.describe_bot`.
    """

    bot: WireObject


class BotService(TypedDict):
    """The address of an outgoing webhook. `interface`: 1 the service's own form, 2 Slack's."""

    base_url: str
    interface: int


class BotChange(TypedDict, total=False):
    """The properties of a bot that have other values."""

    full_name: str
    email: str
    avatar_url: str
    is_active: bool
    owner_id: int
    services: Sequence[BotService]


class ChangedBot(BotChange):
    """A bot and what has changed about the bot."""

    user_id: Required[int]


class RealmBotUpdateEvent(ClientEvent, type="realm_bot", op="update"):
    """A bot has changed. Sent to the users who manage it."""

    bot: ChangedBot


class BotId(TypedDict):
    """A bot named by its id alone."""

    user_id: int


class RealmBotDeleteEvent(ClientEvent, type="realm_bot", op="delete"):
    """Users no longer manage a bot, because it has another owner or they are no administrators any
    more. Sent to those users. The bot may still exist.
    """

    bot: BotId


class UserGroupAddEvent(ClientEvent, type="user_group", op="add"):
    """A user group was created. Sent to everybody.

    `group` comes from `models.chat.access.groups.find_groups`.
    """

    group: WireObject


class UserGroupAddMembersEvent(ClientEvent, type="user_group", op="add_members"):
    """Users belong to a named or system group now. Sent to everybody."""

    group_id: int
    user_ids: Sequence[int]


class UserGroupRemoveMembersEvent(ClientEvent, type="user_group", op="remove_members"):
    """Users no longer belong to a named or system group. Sent to everybody."""

    group_id: int
    user_ids: Sequence[int]


class UserGroupAddSubgroupsEvent(ClientEvent, type="user_group", op="add_subgroups"):
    """The members of other groups belong to a named group now too. Sent to everybody."""

    group_id: int
    direct_subgroup_ids: Sequence[int]


class UserGroupRemoveSubgroupsEvent(ClientEvent, type="user_group", op="remove_subgroups"):
    """Groups are no longer subgroups of a named group. Sent to everybody."""

    group_id: int
    direct_subgroup_ids: Sequence[int]


class UserGroupUpdateEvent(
    ClientEvent, type="user_group", op="update", internal=("is_hidden", "group")
):
    """A named group was changed, deactivated or reactivated. Sent to everybody.

    `data` has the new values by their names. `is_hidden`: the group was deactivated before the
    change or is now, so older clients do not know it. `group` is the reactivated group, which older
    clients get as a new one.
    """

    group_id: int
    data: WireObject
    is_hidden: bool | Absent = ABSENT
    group: WireObject | Absent = ABSENT


class UserGroupRemoveEvent(ClientEvent, type="user_group", op="remove"):
    """A named group was deactivated. Sent to clients without support for deactivated groups, in
    place of `UserGroupUpdateEvent`.
    """

    group_id: int


class UserStatusEvent(ClientEvent, type="user_status"):
    """A user changed their status. Sent to everybody; what did not change is absent.

    An empty `status_text` clears the text. Three empty strings clear the emoji.
    """

    user_id: int
    away: bool | Absent = ABSENT
    status_text: str | Absent = ABSENT
    emoji_name: str | Absent = ABSENT
    emoji_code: str | Absent = ABSENT
    reaction_type: str | Absent = ABSENT
