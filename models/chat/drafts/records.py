"""Drafts as they are kept, and the object that their authors see."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

import orjson
from sqlalchemy import Table

from models.chat.tables import StoredDraft

DRAFT = cast(Table, StoredDraft.__table__)
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
