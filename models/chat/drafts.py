"""Drafts.

Users store, list, change and delete their drafts, in the caller's transaction. The content is
checked as if it were sent. Permission to send is checked only when it is sent.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

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
from models.rows import columns_of, read_row, read_rows
from specd.db import Db, table_of


class DraftsNotSynchronized(ChatError):
    """The caller has turned off the setting `enable_drafts_synchronization`."""

    sentence = "User has disabled synchronizing drafts."
    advice = "Keep drafts in the client, or turn `enable_drafts_synchronization` on."


class DraftDoesNotExist(ChatError):
    """The draft is unknown or belongs to another user. The response is the same for both."""

    sentence = "Draft does not exist"
    advice = "Use an id that `GET /drafts` returns."


class OneChannelRequired(ChatError):
    """A draft to a channel does not contain exactly one channel."""

    sentence = "Must specify exactly 1 channel ID for channel messages"
    advice = "Send the id of one channel as `to`."


class NegativeTimestamp(ChatError):
    """The time of a draft is before 1970."""

    sentence = "Timestamp must not be negative."
    advice = "Send Unix seconds, or omit `timestamp`."


DRAFT = table_of(StoredDraft)
CHANNEL, DIRECT, NOBODY = "stream", "private", ""
"""Kinds of recipients in the API."""


@dataclass(frozen=True, slots=True)
class DraftData:
    """A draft from a client. `to` contains the id of one channel, or ids of users. `timestamp` is
    the time of the last edit in Unix seconds, or None for now.
    """

    kind: str
    to: Sequence[int]
    topic: str
    content: str
    timestamp: float | None = None


class _Draft(NamedTuple):
    id: int
    channel_id: int | None
    recipient_ids: str | None
    topic: str
    content: str
    edited_at: datetime


def record_of(row: _Draft) -> dict[str, Any]:
    """Return the draft object for responses and events."""
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


_SHOWN = columns_of(_Draft, DRAFT)
_INSERT = insert(DRAFT).returning(*_SHOWN)
_MINE = (
    select(*_SHOWN)
    .where(DRAFT.c.user_id == bindparam("of_user_id"))
    .order_by(DRAFT.c.edited_at.desc(), DRAFT.c.id.desc())
)
_USER = table_of(User)
_IS_ON = select(_USER.c.enable_drafts_synchronization).where(_USER.c.id == bindparam("of_user_id"))
_Columns = dict[str, Any]


def require_synchronization(db: Db, author: Actor, *, lock: bool = False) -> None:
    """Raise `DraftsNotSynchronized` if the author's setting is off. `lock` prevents turning it off,
    which deletes drafts, until the transaction ends.
    """
    query = _IS_ON.with_for_update(read=True) if lock else _IS_ON
    if not db.execute(query, {"of_user_id": author.id}).scalar_one():
        raise DraftsNotSynchronized()


def find_drafts(db: Db, author: Actor) -> list[dict[str, Any]]:
    """Return the author's drafts, last edited first."""
    rows = read_rows(_Draft, db.execute(_MINE, {"of_user_id": author.id}))
    return [*map(record_of, rows)]


def create_drafts(
    session: Session, author: Actor, drafts: Sequence[DraftData], *, now: datetime
) -> list[int]:
    """Create drafts and return their ids, in order. The number of statements does not depend on the
    number of drafts.

    Raise `DraftsNotSynchronized`, or for the first invalid draft `NegativeTimestamp`,
    `MessageIsEmpty`, `MessageHasNullBytes`, `InvalidCharacterInTopic`, `OneChannelRequired`,
    `InvalidChannelId`, `InvalidRecipientId`, `RecipientDeactivated`.
    """
    require_synchronization(session, author, lock=True)
    columns = _check(session, author, drafts, now)
    if not columns:
        return []
    mine = {"realm_id": author.realm_id, "user_id": author.id}
    inserted = session.connection().execute(_INSERT, [mine | each for each in columns])
    rows = sorted(read_rows(_Draft, inserted))  # the statement numbers its rows in order
    added = DraftsAddEvent(drafts=[record_of(row) for row in rows])
    log.append(session, author.realm_id, added, user_ids=[author.id], now=now)
    return [row.id for row in rows]


def change_draft(
    session: Session, author: Actor, draft_id: int, draft: DraftData, *, now: datetime
) -> None:
    """Replace a draft. Raise an error of `create_drafts`, or `DraftDoesNotExist`."""
    require_synchronization(session, author, lock=True)
    [columns] = _check(session, author, [draft], now)
    own = update(DRAFT).where(DRAFT.c.id == draft_id, DRAFT.c.user_id == author.id)
    result = session.connection().execute(own.values(**columns).returning(*_SHOWN))
    row = read_row(_Draft, result)
    if row is None:
        raise DraftDoesNotExist()
    changed = DraftsUpdateEvent(draft=record_of(row))
    log.append(session, author.realm_id, changed, user_ids=[author.id], now=now)


def delete_draft(session: Session, author: Actor, draft_id: int, *, now: datetime) -> None:
    """Delete a draft. Raise `DraftsNotSynchronized`, `DraftDoesNotExist`."""
    require_synchronization(session, author, lock=True)
    own = delete(DRAFT).where(DRAFT.c.id == draft_id, DRAFT.c.user_id == author.id)
    if session.connection().execute(own.returning(DRAFT.c.id)).first() is None:
        raise DraftDoesNotExist()
    removed = DraftsRemoveEvent(draft_id=draft_id)
    log.append(session, author.realm_id, removed, user_ids=[author.id], now=now)


def forget_drafts(session: Session, user_ids: Collection[int]) -> None:
    """Delete the drafts of users who turned synchronization off. There is no event, so their
    clients keep their drafts.
    """
    session.connection().execute(delete(DRAFT).where(id_in(DRAFT.c.user_id, user_ids)))


# --- checks -----------------------------------------------------------------------------------


def _check(
    session: Session, author: Actor, drafts: Sequence[DraftData], now: datetime
) -> list[_Columns]:
    """Return the columns of the drafts. Channels and users of all drafts are read together."""
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
    """Return the ids of the other users in ascending order, or the author's id for a note to
    oneself.
    """
    for user_id in to:
        if user_id not in people:
            raise InvalidRecipientId(user_id=user_id)
    others = sorted(set(to) - {author.id})
    require_active(author, [people[user_id] for user_id in others])
    return others or [author.id]
