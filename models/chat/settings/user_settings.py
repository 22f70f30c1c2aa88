"""Change settings of one or many users, with a few statements each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import available_timezones

import orjson
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from models.chat.access.errors import (
    InvalidUserGroup,
    InvalidUserId,
    MustBeAdministrator,
    UserGroupDeactivated,
)
from models.chat.access.membership import find_members_of_any
from models.chat.common.errors import InvalidChoice, InvalidParameter
from models.chat.events import log
from models.chat.events.account import UserSettingsUpdateEvent
from models.chat.events.log import ABSENT
from models.chat.identity.actors import Actor
from models.chat.settings.effects import notify_of_effects
from models.chat.settings.errors import (
    InvalidBatchingPeriod,
    InvalidDefaultLanguage,
    InvalidNotificationSound,
    NoTargets,
    NotForOthers,
)
from models.chat.settings.languages import LANGUAGES
from models.chat.tables import AuditLog, User, UserGroup
from models.chat.tables.setting_table import SETTINGS, Value
from models.dialects import id_in
from models.json import Json
from specd.db import Db, table_of

AUDIT_KIND = "setting:"
_USER = table_of(User)
_AUDIT = table_of(AuditLog)
_OWN = select(*(_USER.c[name] for name in SETTINGS)).where(_USER.c.id == bindparam("user_id"))


@dataclass(frozen=True, slots=True)
class Targets:
    """The users whose settings an administrator changes."""

    user_ids: Sequence[int] = ()
    group_ids: Sequence[int] = ()
    skip_if_already_edited: bool = False


def find_settings(db: Db, user_id: int) -> dict[str, Value]:
    """Return every setting of a user, by name."""
    return dict(db.execute(_OWN, {"user_id": user_id}).mappings().one())


def check_settings(changes: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values as they are stored. They are checked in alphabetical order.

    The types have already been checked. Raise the error class of an invalid value.
    """
    return {name: _check(name, changes[name]) for name in sorted(changes)}


def _check(name: str, value: Json) -> Value:
    setting = SETTINGS[name]
    value = setting.aliases.get(value, value) if isinstance(value, str) else value
    match name:
        case "default_language" if value not in LANGUAGES:
            raise InvalidDefaultLanguage()
        case "notification_sound" if value not in setting.choices:
            raise InvalidNotificationSound(sound=value)
        case "timezone" if value != "" and value not in _timezones():
            raise InvalidParameter(name=name, problem="is not a recognized time zone")
        case "email_notifications_batching_period_seconds":
            if not setting.least <= value <= setting.most:
                raise InvalidBatchingPeriod(seconds=value)
    if setting.choices and value not in setting.choices:
        raise InvalidChoice(name=name)
    if type(setting.default) is int and not setting.choices:
        if value < setting.least:
            raise InvalidParameter(name=name, problem="is too small")
        if value > setting.most:
            raise InvalidParameter(name=name, problem="is too large")
    return value  # type: ignore[no-any-return]


@cache
def _timezones() -> frozenset[str]:
    """Return the names of time zones. They are cached, because reading them opens every time zone
    file.
    """
    return frozenset(available_timezones())


def change_settings(
    session: Session,
    actor: Actor,
    changes: Mapping[str, Value],
    *,
    user_ids: Sequence[int],
    skip_if_already_edited: bool = False,
    now: datetime,
) -> None:
    """Set the checked values for users. Users who already have a value get no event.

    `skip_if_already_edited` skips users who have ever changed the setting themselves.
    """
    for name, value in changes.items():
        changed = _set(session, user_ids, name, value, skip_if_already_edited)
        if not changed:
            continue
        session.connection().execute(
            insert(_AUDIT),
            [
                {
                    "realm_id": actor.realm_id,
                    "kind": f"{AUDIT_KIND}{name}",
                    "actor_id": actor.id,
                    "user_id": user_id,
                    "facts": orjson.dumps({"old": old, "new": value}).decode(),
                    "at": now,
                }
                for user_id, old in changed.items()
            ],
        )
        language = LANGUAGES[str(value)] if name == "default_language" else ABSENT
        event = UserSettingsUpdateEvent(property=name, value=value, language_name=language)
        log.append(session, actor.realm_id, event, user_ids=changed, now=now)
        notify_of_effects(session, actor, name, value, changed, now=now)


def _set(
    session: Session, user_ids: Sequence[int], name: str, value: Value, skip_edited: bool
) -> dict[int, Value]:
    """Return user id -> old value, for users whose value changes. They are locked in order."""
    column = _USER.c[name]
    users = id_in(_USER.c.id, user_ids)
    wanted = select(_USER.c.id, column).where(users, column != value)
    if skip_edited:
        edited = select(_AUDIT.c.user_id).where(
            id_in(_AUDIT.c.user_id, user_ids),
            _AUDIT.c.kind == f"{AUDIT_KIND}{name}",
            _AUDIT.c.actor_id == _AUDIT.c.user_id,
        )
        wanted = wanted.where(_USER.c.id.not_in(edited))
    locked = wanted.order_by(_USER.c.id).with_for_update(key_share=True)
    changed = {user_id: old for user_id, old in session.connection().execute(locked)}
    if changed:
        session.connection().execute(
            update(_USER).where(id_in(_USER.c.id, changed)).values({name: value})
        )
    return changed


def require_bulk_allowed(
    actor: Actor, targets: Targets, names: Sequence[str], *, more: bool
) -> None:
    """Raise `MustBeAdministrator`, `NoTargets` or `NotForOthers` unless the actor may change these
    settings of other users. `more` means that the request contains other changes too.
    """
    if not actor.is_administrator:
        raise MustBeAdministrator()
    if not targets.user_ids and not targets.group_ids:
        raise NoTargets()
    if more or any(SETTINGS[name].own_only for name in names):
        raise NotForOthers()


def find_target_ids(session: Session, actor: Actor, targets: Targets) -> list[int]:
    """Return the ids of the named users, active or not, and of the active members of the groups,
    including members of subgroups. Bots are left out.

    Raise `InvalidUserId`, `InvalidUserGroup`, `UserGroupDeactivated`.
    """
    named = set(targets.user_ids)
    in_realm = select(User.id, User.bot_type).where(
        User.realm_id == actor.realm_id, ~User.is_system_bot
    )
    known = {row.id for row in session.execute(in_realm.where(id_in(User.id, named)))}
    for missing in sorted(named - known):
        raise InvalidUserId(user_id=missing)
    _check_groups(session, actor, targets.group_ids)
    if targets.group_ids:
        known |= find_members_of_any(session, targets.group_ids)
    people = in_realm.where(id_in(User.id, known), User.bot_type.is_(None))
    return sorted(row.id for row in session.execute(people))


def _check_groups(session: Session, actor: Actor, group_ids: Sequence[int]) -> None:
    rows = session.execute(
        select(UserGroup.id, UserGroup.is_deactivated).where(
            UserGroup.realm_id == actor.realm_id,
            UserGroup.kind != "anonymous",
            id_in(UserGroup.id, group_ids),
        )
    ).all()
    if len(rows) < len(set(group_ids)):
        raise InvalidUserGroup()
    if any(row.is_deactivated for row in rows):
        raise UserGroupDeactivated()
