"""Events for clients, and the event log.

Each kind of event is a class. An event is appended in the transaction of its change, but it is
inserted at the end of the transaction, so that the ids of a realm follow the order of commits
(models/commit_order.py). All processes are notified after the commit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

import orjson
from sqlalchemy import (
    ColumnElement,
    Integer,
    bindparam,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
)
from sqlalchemy.orm import Session

from models.chat.tables import Event
from models.commit_order import lock_logs
from models.dialects import ByDialect
from specd.db import Change, Database, table_of

WireObject = Mapping[str, Any]
"""An object as in responses of the API. The event class that uses it names its source."""
EmailFact = tuple[int, str, int]
"""A user's id, real address, and the `EmailVisibility` of the address."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""The value of a field that an event does not have. None would become JSON's null."""

Value = TypeVar("Value")


def or_absent(value: Value | None) -> Value | Absent:
    """Return the value, or `ABSENT` for None."""
    return ABSENT if value is None else value


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ClientEvent:
    """An event as clients receive it, with the fields of its body in order.

    A kind is a type of event, or a type with an op: `class DeviceAddEvent(ClientEvent,
    type="device", op="add")`. Each kind becomes a frozen, keyword-only dataclass. `internal` fields
    are for the delivery (`models.chat.queues.delivery`) and are not sent to clients. `lazy` fields
    are not stored: the delivery reads them from their tables (`models.chat.queues.lazy`).
    """

    type: ClassVar[str]
    op: ClassVar[str | None]
    internal: ClassVar[tuple[str, ...]]
    lazy: ClassVar[tuple[str, ...]]
    _keys: ClassVar[tuple[tuple[str, str], ...]]

    def __init_subclass__(
        cls,
        *,
        type: str,
        op: str | None = None,
        internal: tuple[str, ...] = (),
        lazy: tuple[str, ...] = (),
    ) -> None:
        cls.type, cls.op, cls.internal, cls.lazy = type, op, internal, lazy
        kind: Any = dataclass(frozen=True, kw_only=True)(cls)
        cls._keys = tuple(
            (field.name, f"_{field.name}" if field.name in internal else field.name)
            for field in fields(kind)
        )

    @property
    def channel_id(self) -> int | None:
        """The channel that the user must be able to read to get the event, or None."""
        return None

    @property
    def parts(self) -> int:
        """The maximum number of events that a client may get for this event. The log reserves an id
        for each.
        """
        return 1

    def payload(self) -> dict[str, Any]:
        """Return the body without `id` and `type`: `op`, then every field that is not absent. The
        keys of internal fields begin with an underscore.
        """
        body: dict[str, Any] = {} if self.op is None else {"op": self.op}
        for name, key in self._keys:
            value = getattr(self, name)
            if value is not ABSENT:
                body[key] = value
        return body


# --- the log ----------------------------------------------------------------------------------

LOCKS = 1
"""The lock family of event logs. Each realm has one log."""
_EVENT = table_of(Event)
_INSERT = Change(insert(_EVENT))


def _id_after_gaps() -> ColumnElement[int]:
    """Return the last of `:parts` new ids."""
    parts = bindparam("parts", type_=Integer)
    newest = select(literal_column("seq", Integer)).select_from(text("sqlite_sequence"))
    last_id = newest.where(literal_column("name") == literal(_EVENT.name)).scalar_subquery()
    drawn = select(func.nextval(func.pg_get_serial_sequence(_EVENT.name, "id")).label("drawn"))
    drawn_ids = drawn.select_from(func.generate_series(1, parts)).subquery()
    return ByDialect(
        sqlite=func.coalesce(last_id, 0) + parts,
        postgresql=select(func.max(drawn_ids.c.drawn)).scalar_subquery(),
    )


_INSERT_AFTER_GAPS = Change(insert(_EVENT).values(id=_id_after_gaps()))
"""For transactions with an event that has several parts."""

AddressedEvent = tuple[ClientEvent, Iterable[int] | None]
"""An event and the ids of its recipients, or None for all users of the realm."""


def append(
    session: Session,
    realm_id: int,
    event: ClientEvent,
    *,
    now: datetime,
    user_ids: Iterable[int] | None = None,
    to_administrators: bool = False,
) -> None:
    """Append one event for `user_ids`, for the realm's administrators, or for all users. An event
    without recipients is dropped.
    """
    Database.before_commit(
        session, _write, _rows(realm_id, event, now, user_ids, to_administrators)
    )


def append_all(
    session: Session, realm_id: int, events: Iterable[AddressedEvent], *, now: datetime
) -> None:
    """Append several events, in order."""
    for event, user_ids in events:
        Database.before_commit(session, _write, _rows(realm_id, event, now, user_ids))


def _write(session: Session, rows: list[dict[str, Any]]) -> None:
    """Insert all events of a transaction together."""
    realm_ids = {row["realm_id"] for row in rows}
    lock_logs(session, LOCKS, realm_ids)
    if any("parts" in row for row in rows):
        _INSERT_AFTER_GAPS.run_all(session, [{"parts": 1, **row} for row in rows])
    else:
        _INSERT.run_all(session, rows)
    Database.notify_logs(session, realm_ids)


def _rows(
    realm_id: int,
    event: ClientEvent,
    now: datetime,
    user_ids: Iterable[int] | None,
    to_administrators: bool = False,
) -> list[dict[str, Any]]:
    """Return the row of an event, or no row if the event has no recipients."""
    recipients = None if user_ids is None else sorted(set(user_ids))
    if recipients == []:
        return []
    audience = "administrators" if to_administrators else "realm" if recipients is None else "users"
    row: dict[str, Any] = {
        "realm_id": realm_id,
        "type": event.type,
        "payload": orjson.dumps(event.payload()).decode(),
        "audience": audience,
        "user_ids": None if recipients is None else orjson.dumps(recipients).decode(),
        "channel_id": event.channel_id,
        "at": now,
    }
    return [row if event.parts == 1 else {**row, "parts": event.parts}]
