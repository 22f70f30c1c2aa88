"""Events of users and the groups they belong to."""

from collections.abc import Sequence
from typing import Required, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject


class RealmUserAddEvent(ClientEvent, type="realm_user", op="add"):
    """A user was created. Tells everybody who may know of the user.

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
    """Something about a user has changed. Tells everybody who may know of the user and may see
    what has changed.
    """

    person: Person


class UserGroupAddEvent(ClientEvent, type="user_group", op="add"):
    """A user group was created. Tells everybody.

    `group` comes from `models.chat.access.groups.find_groups`.
    """

    group: WireObject


class UserGroupAddMembersEvent(ClientEvent, type="user_group", op="add_members"):
    """Users belong to a named or system group now. Tells everybody."""

    group_id: int
    user_ids: Sequence[int]


class UserGroupRemoveMembersEvent(ClientEvent, type="user_group", op="remove_members"):
    """Users no longer belong to a named or system group. Tells everybody."""

    group_id: int
    user_ids: Sequence[int]


class UserStatusEvent(ClientEvent, type="user_status"):
    """A user changed their status. Tells everybody; what did not change is absent.

    An empty `status_text` clears the text. Three empty strings clear the emoji.
    """

    user_id: int
    away: bool | Absent = ABSENT
    status_text: str | Absent = ABSENT
    emoji_name: str | Absent = ABSENT
    emoji_code: str | Absent = ABSENT
    reaction_type: str | Absent = ABSENT
