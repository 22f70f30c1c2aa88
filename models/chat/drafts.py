"""Drafts.

Their authors store, list, change and delete them, in the caller's transaction. What a draft says is
checked as if it were sent, but not whether its author may send it: that is decided when it is sent.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import orjson
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.channels import filter_readable, find_channels
from models.chat.access.errors import InvalidChannelId
from models.chat.access.naming import find_named
from models.chat.access.people import UserRow
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.messages import DraftsAddEvent, DraftsRemoveEvent, DraftsUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.rendering.texts import shorten
from models.chat.sending.drafts import check_stored
from models.chat.sending.errors import InvalidRecipientId
from models.chat.sending.recipients import require_active
from models.chat.tables import StoredDraft, User
from models.chat.topics.names import normalise_topic
from models.dialects import id_in
from models.reader import Db


class DraftsNotSynchronized(ChatError):
    """The caller has turned off the setting `enable_drafts_synchronization`."""

    sentence = "User has disabled synchronizing drafts."
    advice = "Keep drafts in the client, or turn `enable_drafts_synchronization` on."


class DraftDoesNotExist(ChatError):
    """The draft is unknown or belongs to another user. The answer is the same for both."""

    sentence = "Draft does not exist"
    advice = "Use an id that `GET /drafts` returns."


class OneChannelRequired(ChatError):
    """A draft to a channel names no channel, or more than one."""

    sentence = "Must specify exactly 1 channel ID for channel messages"
    advice = "Send the id of one channel as `to`."


class NegativeTimestamp(ChatError):
    """The time of a draft is before 1970."""

    sentence = "Timestamp must not be negative."
    advice = "Send Unix seconds, or leave `timestamp` out."


DRAFT = table_of(StoredDraft)
CHANNEL, DIRECT, NOBODY = "stream", "private", ""
"""Kinds of recipients, as they are spelled on the wire."""


@dataclass(frozen=True, slots=True)
class DraftData:
    """A draft as a client writes it. `to`: the id of one channel, or ids of users. `timestamp`:
    Unix seconds of the last edit; None is now.
    """

    kind: str
    to: Sequence[int]
    topic: str
    content: str
    timestamp: float | None = None


class DraftRow(Protocol):
    """A draft with all of its columns."""

    @property
    def id(self) -> int: ...
    @property
    def channel_id(self) -> int | None: ...
    @property
    def recipient_ids(self) -> str | None: ...
    @property
    def topic(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def edited_at(self) -> datetime: ...


def record_of(row: DraftRow) -> dict[str, Any]:
    """The draft object, as answers and events show it."""
    kind: str = NOBODY
    to: list[int] = []
    if row.channel_id is not None:
        kind, to = CHANNEL, [row.channel_id]
    elif row.recipient_ids is not None:
        kind, to = DIRECT, orjson.loads(row.recipient_ids)
    return {
        "id": row.id,
        "type": kind,
        "to": to,
        "topic": row.topic,
        "content": row.content,
        "timestamp": int(row.edited_at.timestamp()),
    }


_INSERT = insert(DRAFT).returning(*DRAFT.c)
_MINE = (
    select(*DRAFT.c)
    .where(DRAFT.c.user_id == bindparam("of_user_id"))
    .order_by(DRAFT.c.edited_at.desc(), DRAFT.c.id.desc())
)
_USER = table_of(User)
_IS_ON = select(_USER.c.enable_drafts_synchronization).where(_USER.c.id == bindparam("of_user_id"))
_Columns = dict[str, Any]


def require_synchronization(db: Db, author: Actor) -> None:
    """Raises `DraftsNotSynchronized`."""
    if not db.execute(_IS_ON, {"of_user_id": author.id}).scalar_one():
        raise DraftsNotSynchronized()


def find_drafts(db: Db, author: Actor) -> list[dict[str, Any]]:
    """Records of the author's drafts, the last edited first."""
    return [record_of(row) for row in db.execute(_MINE, {"of_user_id": author.id})]


def create_drafts(
    session: Session, author: Actor, drafts: Sequence[DraftData], *, now: datetime
) -> list[int]:
    """Ids of the new drafts, in their order; the statements are those of one draft.

    Raises `DraftsNotSynchronized`, then for the first draft that is wrong `NegativeTimestamp`,
    `MessageIsEmpty`, `MessageHasNullBytes`, `InvalidCharacterInTopic`, `OneChannelRequired`,
    `InvalidChannelId`, `InvalidRecipientId`, `RecipientDeactivated`.
    """
    _hold_setting(session, author)
    columns = _check(session, author, drafts, now)
    if not columns:
        return []
    mine = {"realm_id": author.realm_id, "user_id": author.id}
    made = session.connection().execute(_INSERT, [mine | each for each in columns])
    rows = sorted(made, key=lambda row: row.id)  # one statement numbers its rows in their order
    added = DraftsAddEvent(drafts=[record_of(row) for row in rows])
    log.append(session, author.realm_id, added, user_ids=[author.id], now=now)
    return [row.id for row in rows]


def change_draft(
    session: Session, author: Actor, draft_id: int, draft: DraftData, *, now: datetime
) -> None:
    """Replace a draft. Raises what `create_drafts` raises, then `DraftDoesNotExist`."""
    _hold_setting(session, author)
    [columns] = _check(session, author, [draft], now)
    own = update(DRAFT).where(DRAFT.c.id == draft_id, DRAFT.c.user_id == author.id)
    row = session.connection().execute(own.values(**columns).returning(*DRAFT.c)).first()
    if row is None:
        raise DraftDoesNotExist()
    changed = DraftsUpdateEvent(draft=record_of(row))
    log.append(session, author.realm_id, changed, user_ids=[author.id], now=now)


def delete_draft(session: Session, author: Actor, draft_id: int, *, now: datetime) -> None:
    """Raises `DraftsNotSynchronized`, `DraftDoesNotExist`."""
    _hold_setting(session, author)
    own = delete(DRAFT).where(DRAFT.c.id == draft_id, DRAFT.c.user_id == author.id)
    if session.connection().execute(own.returning(DRAFT.c.id)).first() is None:
        raise DraftDoesNotExist()
    removed = DraftsRemoveEvent(draft_id=draft_id)
    log.append(session, author.realm_id, removed, user_ids=[author.id], now=now)


def forget_drafts(session: Session, user_ids: Collection[int]) -> None:
    """Delete the drafts of users who synchronize none from now on. No event says so: their clients
    keep what they have.
    """
    session.connection().execute(delete(DRAFT).where(id_in(DRAFT.c.user_id, user_ids)))


def _hold_setting(session: Session, author: Actor) -> None:
    """Nobody turns the setting off, which deletes drafts, while this transaction stores one."""
    held = _IS_ON.with_for_update(read=True)
    if not session.connection().execute(held, {"of_user_id": author.id}).scalar_one():
        raise DraftsNotSynchronized()


# --- checks -----------------------------------------------------------------------------------


def _check(
    session: Session, author: Actor, drafts: Sequence[DraftData], now: datetime
) -> list[_Columns]:
    """The columns of the drafts. Channels and people of all drafts are looked up together."""
    named = {
        kind: {to for draft in drafts if draft.kind == kind for to in draft.to}
        for kind in (CHANNEL, DIRECT)
    }
    channels = find_channels(session, author, channel_ids=named[CHANNEL]) if named[CHANNEL] else []
    readable = {channel.id for channel in filter_readable(session, author, channels)}
    people: Mapping[int | str, UserRow] = {}
    if named[DIRECT]:
        people = find_named(session, author, named[DIRECT], system_bots=True)
    return [_columns_of(author, draft, readable, people, now) for draft in drafts]


def _columns_of(
    author: Actor,
    draft: DraftData,
    readable: Collection[int],
    people: Mapping[int | str, UserRow],
    now: datetime,
) -> _Columns:
    edited_at = now
    if draft.timestamp is not None:
        if draft.timestamp < 0:
            raise NegativeTimestamp()
        edited_at = datetime.fromtimestamp(draft.timestamp, UTC)
    columns: _Columns = {
        "channel_id": None,
        "recipient_ids": None,
        "topic": "",
        "content": check_stored(shorten(draft.content)),
        "edited_at": edited_at,
    }
    if draft.kind == CHANNEL:
        empty_name = author.realm.empty_topic_display_name
        columns["topic"] = normalise_topic(draft.topic, empty_name=empty_name)
        if len(draft.to) != 1:
            raise OneChannelRequired()
        [columns["channel_id"]] = draft.to
        if columns["channel_id"] not in readable:
            raise InvalidChannelId()
    elif draft.kind == DIRECT and draft.to:
        columns["recipient_ids"] = orjson.dumps(_recipients(author, draft.to, people)).decode()
    return columns


def _recipients(author: Actor, to: Sequence[int], people: Mapping[int | str, UserRow]) -> list[int]:
    """Ids of the others, ascending; the author alone is the only recipient of a note."""
    for user_id in to:
        if user_id not in people:
            raise InvalidRecipientId(user_id=user_id)
    others = sorted(set(to) - {author.id})
    require_active(author, [people[user_id] for user_id in others])
    return others or [author.id]
