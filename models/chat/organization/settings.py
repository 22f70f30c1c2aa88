"""The settings of an organization: their values, and the function that changes them.

PATCH /realm and `specd chat set-realm` use the same names and the same checks.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.errors import InvalidChannelId, MustBeOwner
from models.chat.access.group_settings import REALM_GROUPS, changed_group, find_group_values
from models.chat.common import audit
from models.chat.common.errors import BadParameter, InvalidChoice, InvalidParameter
from models.chat.common.one_line import require_one_line
from models.chat.events import log
from models.chat.events.organization import (
    RealmUpdateDictEvent,
    RealmUserSettingsDefaultsUpdateEvent,
)
from models.chat.identity.actors import Actor, RealmView
from models.chat.organization.errors import RealmDoesNotExist, UnknownRealmSetting
from models.chat.tables import Channel, Realm
from models.dialects import INT_MAX
from models.json import Json

UNLIMITED = "unlimited"
FOREVER = -1
WELCOME_TEXT_MAX = 8000
"""In characters. The text and the bot's introduction fit into a message."""

Check = Callable[[str, Json], int | str | None]
"""Maps a setting's name and a value to the stored value. Raises an error for a wrong value."""


def _text(least: int, most: int, *, lines: bool = False) -> Check:
    def check(name: str, value: Json) -> str:
        if not isinstance(value, str):
            raise InvalidParameter(name=name, problem="is not a string")
        trimmed = value.strip()
        if len(trimmed) < least:
            raise InvalidParameter(name=name, problem="cannot be blank")
        if len(trimmed) > most:
            raise InvalidParameter(name=name, problem=f"is too long (limit: {most} characters)")
        return trimmed if lines else require_one_line(name, trimmed)

    return check


def _boolean(name: str, value: Json) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter(name=name, problem="is not a boolean")
    return value


class _Choice:
    """A check of settings with a fixed set of values."""

    def __init__(self, *choices: str | int) -> None:
        self._choices = choices

    def __call__(self, name: str, value: Json) -> str | int:
        if isinstance(value, bool) or value not in self._choices:
            raise InvalidChoice(name=name)
        return value  # type: ignore[no-any-return]


def _limit(unlimited: int | None) -> Check:
    """Return a check of positive numbers. "unlimited" and the value of `unlimited` mean no
    limit.
    """

    def check(name: str, value: Json) -> int | None:
        if value in (UNLIMITED, unlimited):
            return unlimited
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= INT_MAX:
            raise BadParameter(var_name=name, bad_value=value)
        return value

    return check


def _channel(name: str, value: Json) -> int | None:
    """Return a channel's id. None and -1 mean no channel."""
    if value is None or value == NO_CHANNEL:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidParameter(name=name, problem="is not an integer")
    return value


@dataclass(frozen=True, slots=True)
class RealmSetting:
    """A setting: the check of its values, and whether only owners may change it."""

    check: Check
    owner_only: bool = False


SETTINGS: dict[str, RealmSetting] = {
    "name": RealmSetting(_text(1, 40)),
    "description": RealmSetting(_text(0, 1000, lines=True)),
    "default_language": RealmSetting(_text(1, 50)),
    "email_address_visibility": RealmSetting(_Choice(1, 2, 3, 4, 5)),
    "emails_restricted_to_domains": RealmSetting(_boolean, owner_only=True),
    "disallow_disposable_email_addresses": RealmSetting(_boolean, owner_only=True),
    "require_unique_names": RealmSetting(_boolean),
    "name_changes_disabled": RealmSetting(_boolean),
    "email_changes_disabled": RealmSetting(_boolean),
    "avatar_changes_disabled": RealmSetting(_boolean),
    "enable_read_receipts": RealmSetting(_boolean),
    "enable_spectator_access": RealmSetting(_boolean),
    "topics_policy": RealmSetting(_Choice("allow_empty_topic", "disable_empty_topic")),
    "empty_topic_display_name": RealmSetting(_text(1, 60)),
    "welcome_message_custom_text": RealmSetting(_text(0, WELCOME_TEXT_MAX, lines=True)),
    "message_retention_days": RealmSetting(_limit(FOREVER), owner_only=True),
    "allow_message_editing": RealmSetting(_boolean),
    "message_edit_history_visibility_policy": RealmSetting(_Choice("all", "moves", "none")),
    "message_content_edit_limit_seconds": RealmSetting(_limit(None)),
    "message_content_delete_limit_seconds": RealmSetting(_limit(None)),
    "move_messages_within_stream_limit_seconds": RealmSetting(_limit(None)),
    "move_messages_between_streams_limit_seconds": RealmSetting(_limit(None)),
    "moderation_request_channel_id": RealmSetting(_channel),
    "new_stream_announcements_stream_id": RealmSetting(_channel),
}


def check_choices(values: Mapping[str, Any]) -> None:
    """Check values of settings with a fixed set of values. Other settings are ignored. Raise
    `InvalidChoice`.
    """
    for name, setting in SETTINGS.items():
        if isinstance(setting.check, _Choice) and name in values:
            setting.check(name, values[name])


"""All settings except group settings, which are in `REALM_GROUPS`."""

OPERATOR_SETTINGS = {"owner_full_content_access": RealmSetting(_boolean)}
"""Settings that only `specd chat set-realm` changes. They are not parameters of PATCH /realm."""

TEXT_SETTINGS = frozenset(
    (
        "name",
        "description",
        "default_language",
        "empty_topic_display_name",
        "welcome_message_custom_text",
    )
)
CHANNEL_SETTINGS = ("moderation_request_channel_id", "new_stream_announcements_stream_id")
NO_CHANNEL = -1
"""The API's value of a setting without a channel."""
USER_DEFAULTS = ("default_language", "email_address_visibility")
"""Settings that are defaults for new users."""
OWNER_GROUPS = frozenset(
    (
        "can_create_groups",
        "can_invite_users_group",
        "can_manage_all_groups",
        "create_multiuse_invite_group",
    )
)


def change_realm(
    session: Session,
    realm_id: int,
    changes: Mapping[str, Any],
    *,
    actor: Actor | None,
    now: datetime,
) -> None:
    """Change settings from the next request on. If one change fails, none is made. `actor` is None
    for the operator.

    The value of a group setting is a group value, a system group's name, or `{"new": value, "old":
    value}`. Raise `UnknownRealmSetting`, `MustBeOwner`, or an error of a value's check.
    """
    realm = session.get(Realm, realm_id, with_for_update=True)
    if realm is None:
        raise RealmDoesNotExist(realm=realm_id)
    changed: dict[str, Any] = {}
    older = find_older_settings(realm)
    for name in sorted(changes):
        before = getattr(realm, name, None)
        after: int | str | None
        if name in REALM_GROUPS:
            _require_owner(actor, name in OWNER_GROUPS)
            setting, current = REALM_GROUPS[name], int(getattr(realm, name))
            after = changed_group(
                session, realm_id, setting, changes[name], current, actor=actor, now=now
            )
        elif actor is None and name in OPERATOR_SETTINGS:
            after = OPERATOR_SETTINGS[name].check(name, changes[name])
        elif name in SETTINGS:
            _require_owner(actor, SETTINGS[name].owner_only)
            after = SETTINGS[name].check(name, changes[name])
            if name in CHANNEL_SETTINGS and isinstance(after, int):
                channel = (Channel.id == after) & (Channel.realm_id == realm_id)
                if session.execute(select(Channel.id).where(channel)).first() is None:
                    raise InvalidChannelId()
        else:
            raise UnknownRealmSetting(name=name, hint=_hint(name))
        if after != before:
            setattr(realm, name, after)
            changed[name] = after
            audit.record(
                session,
                realm_id,
                "realm_setting_changed",
                actor_id=None if actor is None else actor.id,
                facts={"property": name, "old": before, "new": after},
                now=now,
            )
    if changed:
        groups = {group_id for name, group_id in changed.items() if name in REALM_GROUPS}
        values = find_group_values(session, groups)
        data: dict[str, Any] = {
            name: values[value] if name in REALM_GROUPS else clients_value(name, value)
            for name, value in changed.items()
        }
        data |= dict(find_older_settings(realm).items() - older.items())
        log.append(session, realm_id, RealmUpdateDictEvent(data=data), now=now)
        defaults = [
            (RealmUserSettingsDefaultsUpdateEvent(property=name, value=data[name]), None)
            for name in USER_DEFAULTS
            if name in data
        ]
        log.append_all(session, realm_id, defaults, now=now)


def clients_value(name: str, value: Json) -> Json:
    """Return a setting's value in the API's form. Group settings are not supported."""
    return NO_CHANNEL if value is None and name in CHANNEL_SETTINGS else value


def _require_owner(actor: Actor | None, owner_only: bool) -> None:
    if owner_only and actor is not None and not actor.is_owner:
        raise MustBeOwner()


def _hint(name: str) -> str:
    near = difflib.get_close_matches(name, [*SETTINGS, *OPERATOR_SETTINGS, *REALM_GROUPS], n=1)
    return f"did you mean {near[0]}?" if near else "PATCH /realm lists them."


def find_older_settings(realm: Realm | RealmView) -> dict[str, bool | int]:
    """Return settings for older clients, derived from newer settings, by name."""
    return {
        "allow_edit_history": realm.message_edit_history_visibility_policy == "all",
        "mandatory_topics": realm.topics_policy == "disable_empty_topic",
        "wildcard_mention_policy": _policy_of(realm, realm.can_mention_many_users_group),
    }


def _policy_of(realm: Realm | RealmView, group_id: int) -> int:
    """Return the number for a permission that older clients use instead of a group. Groups without
    a number are shown as everyone (1). The server still checks each request.
    """
    policies = {
        realm.members_group_id: 2,
        realm.fullmembers_group_id: 3,
        realm.administrators_group_id: 5,
        realm.owners_group_id: 5,
        realm.nobody_group_id: 6,
        realm.moderators_group_id: 7,
    }
    return policies.get(group_id, 1)
