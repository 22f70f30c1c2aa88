"""What people say they are doing: read by everybody who may know them, set by themselves."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, cast

from sqlalchemy import Table, bindparam, or_, select, update
from sqlalchemy.orm import Session

from models.chat.access.errors import NoSuchUser, UserIsDeactivated
from models.chat.access.naming import access_user
from models.chat.events import log
from models.chat.events.account import UserSettingsUpdateEvent
from models.chat.events.log import given
from models.chat.events.people import UserStatusEvent
from models.chat.ground.one_line import require_one_line
from models.chat.identity.actors import Actor
from models.chat.people.errors import (
    EmojiCodeWithoutName,
    EmojiDoesNotExist,
    InvalidEmoji,
    NoNewStatus,
)
from models.chat.rendering.emoji import EMOJI
from models.chat.tables import RealmEmoji, User, UserStatus
from models.reader import Db, upsert

UNICODE, REALM, EXTRA = "unicode_emoji", "realm_emoji", "service_extra_emoji"
EXTRA_EMOJI = "zulip"
"""The one emoji that comes with the service; its code is its name."""

CODE_POINTS = re.compile(r"[0-9a-f]{2,6}(-[0-9a-f]{2,6}){0,9}")

_STATUS = cast(Table, UserStatus.__table__)
_STATUSES = (
    select(
        User.id,
        User.presence_enabled,
        UserStatus.status_text,
        UserStatus.emoji_name,
        UserStatus.emoji_code,
        UserStatus.reaction_type,
    )
    .select_from(User)
    .outerjoin(UserStatus, UserStatus.user_id == User.id)
)
_FIND = _STATUSES.where(User.id == bindparam("user_id"))
_FIND_ALL = _STATUSES.where(
    User.realm_id == bindparam("realm_id"),
    User.is_active,
    User.bot_type.is_(None),
    or_(~User.presence_enabled, UserStatus.user_id.is_not(None)),
).order_by(User.id)


class StatusRow(Protocol):
    """A row of `_STATUSES`; the texts are null for a user who never had a status."""

    @property
    def presence_enabled(self) -> bool: ...
    @property
    def status_text(self) -> str | None: ...
    @property
    def emoji_name(self) -> str | None: ...
    @property
    def emoji_code(self) -> str: ...
    @property
    def reaction_type(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Emoji:
    """An emoji as clients name it; all three are empty for none."""

    emoji_name: str = ""
    emoji_code: str = ""
    reaction_type: str = ""

    def as_facts(self) -> dict[str, str]:
        return {
            "emoji_name": self.emoji_name,
            "emoji_code": self.emoji_code,
            "reaction_type": self.reaction_type,
        }


def access_status(db: Db, actor: Actor, user_id: int) -> dict[str, Any]:
    """The status object of a person of the actor's realm; empty without a status.

    Raises `NoSuchUser` (also for bots, which have none), `UserIsDeactivated`.
    """
    user = access_user(db, actor, user_id)
    if user.bot_type is not None:
        raise NoSuchUser()
    if not user.is_active:
        raise UserIsDeactivated()
    return _described(db.execute(_FIND, {"user_id": user_id}).one())


def find_statuses(db: Db, realm_id: int) -> dict[int, dict[str, Any]]:
    """User id -> status object, of the realm's active people who have one."""
    rows = db.execute(_FIND_ALL, {"realm_id": realm_id})
    found = ((row.id, _described(row)) for row in rows)
    return {user_id: status for user_id, status in found if status}


def _described(row: StatusRow) -> dict[str, Any]:
    status: dict[str, Any] = {}
    if not row.presence_enabled:
        status["away"] = True
    if row.status_text:
        status["status_text"] = row.status_text
    if row.emoji_name:
        status |= Emoji(row.emoji_name, row.emoji_code, row.reaction_type).as_facts()
    return status


def change_status(
    session: Session,
    actor: Actor,
    *,
    now: datetime,
    status_text: str | None = None,
    away: bool | None = None,
    emoji: Emoji | None = None,
) -> None:
    """Set what is not None; an empty text and an empty emoji clear theirs."""
    event = UserStatusEvent(user_id=actor.id, away=given(away), status_text=given(status_text))
    if away is not None:
        _set_presence(session, actor, not away, now)
    said: dict[str, Any] = {}
    if status_text is not None:
        said["status_text"] = status_text
    if emoji is not None:
        said |= emoji.as_facts()
        event = replace(
            event,
            emoji_name=emoji.emoji_name,
            emoji_code=emoji.emoji_code,
            reaction_type=emoji.reaction_type,
        )
    if said:
        row = {"status_text": "", **Emoji().as_facts(), **said}
        session.connection().execute(
            upsert(session, _STATUS)
            .values(user_id=actor.id, updated_at=now, **row)
            .on_conflict_do_update(index_elements=["user_id"], set_={**said, "updated_at": now})
        )
    log.append(session, actor.realm_id, event, now=now)


def _set_presence(session: Session, actor: Actor, enabled: bool, now: datetime) -> None:
    """`away` is the older name of the setting that hides one's presence."""
    if enabled == actor.presence_enabled:
        return
    session.connection().execute(
        update(User).where(User.id == actor.id).values(presence_enabled=enabled)
    )
    change = UserSettingsUpdateEvent(property="presence_enabled", value=enabled)
    log.append(session, actor.realm_id, change, user_ids=[actor.id], now=now)


def check_emoji(
    db: Db, actor: Actor, name: str | None, code: str | None, kind: str | None
) -> Emoji | None:
    """The emoji a client means; None when it named none. An empty name means no emoji.

    A name alone is looked up: the organization's own emoji first, then the service's. Raises
    `EmojiCodeWithoutName`, `EmojiDoesNotExist`, `InvalidEmoji`.
    """
    if name is None:
        if code is not None or kind is not None:
            raise EmojiCodeWithoutName()
        return None
    if name == "":
        return Emoji()
    if code is None or kind is None:
        found = _find_emoji(db, actor, name)
        code = found.emoji_code if code is None else code
        kind = found.reaction_type if kind is None else kind
    match kind:
        case "unicode_emoji":
            # Clients know far more emoji than our table: a name it lacks is taken at its word.
            if CODE_POINTS.fullmatch(code) is None:
                raise InvalidEmoji(what="emoji code")
            if EMOJI.get(name, code) != code:
                raise InvalidEmoji(what="emoji name")
        case "realm_emoji":
            _check_realm_emoji(db, actor, name, code)
        case _:
            if code != EXTRA_EMOJI:
                raise InvalidEmoji(what="emoji code")
            if name != EXTRA_EMOJI:
                raise InvalidEmoji(what="emoji name")
    return Emoji(name, code, kind)


def _find_emoji(db: Db, actor: Actor, name: str) -> Emoji:
    own = select(RealmEmoji.id).where(
        RealmEmoji.realm_id == actor.realm_id, RealmEmoji.name == name, ~RealmEmoji.is_deactivated
    )
    emoji_id = db.execute(own).scalar()
    if emoji_id is not None:
        return Emoji(name, str(emoji_id), REALM)
    if name == EXTRA_EMOJI:
        return Emoji(name, name, EXTRA)
    if name in EMOJI:
        return Emoji(name, EMOJI[name], UNICODE)
    raise EmojiDoesNotExist(name=name)


def _check_realm_emoji(db: Db, actor: Actor, name: str, code: str) -> None:
    row = None
    if re.fullmatch(r"[0-9]{1,9}", code):
        wanted = select(RealmEmoji.name, RealmEmoji.is_deactivated).where(
            RealmEmoji.realm_id == actor.realm_id, RealmEmoji.id == int(code)
        )
        row = db.execute(wanted).first()
    if row is None:
        raise InvalidEmoji(what="custom emoji")
    if row.name != name:
        raise InvalidEmoji(what="custom emoji name")
    if row.is_deactivated:
        raise InvalidEmoji(what="custom emoji")


def check_status(text: str | None, away: bool | None, emoji_name: str | None) -> str | None:
    """The text as it is stored. Raises `NoNewStatus` when nothing at all was sent, and
    `NotOneLine` for a text of more than one line.
    """
    if text is None and away is None and emoji_name is None:
        raise NoNewStatus()
    return None if text is None else require_one_line("status_text", text.strip())
