"""Events for clients: what an event is, and the log that keeps it.

A kind of event is a class, and an event is one record of it. Events are appended in the transaction
of the change they tell. They are written at the end of the unit of work, so that the ids of a realm
ascend in the order of commits (models/commit_order.py), and all processes are told once they are
kept.
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

from models.base import table_of
from models.chat.tables import Event
from models.commit_order import lock_logs
from models.database import at_the_end, notify_logs
from models.dialects import ByDialect
from models.prepared import Change

WireObject = Mapping[str, Any]
"""An object as answers of the API show it too. The class with the field names its maker."""
EmailFact = tuple[int, str, int]
"""A user's id, real address, and who may see the address (an `EmailVisibility`)."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""The value of a field that this one event does not have. None is JSON's null."""

Value = TypeVar("Value")


def given(value: Value | None) -> Value | Absent:
    """A field from an optional argument: the value, or `ABSENT` for None."""
    return ABSENT if value is None else value


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ClientEvent:
    """An event as clients see it. Its fields are those of the body, in their order.

    A kind is a type of event, or a type with an op:
    `class DeviceAddEvent(ClientEvent, type="device", op="add")`. Each kind becomes a frozen,
    keyword-only dataclass. Fields that are `internal` are for the delivery
    (`models.chat.queues.delivery`), and clients never see them. Those that are `lazy` are no
    fields of the record: the delivery reads them from their tables (`models.chat.queues.lazy`).
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
        """The channel that a client must be able to read when it is told; None: no channel."""
        return None

    @property
    def parts(self) -> int:
        """As how many events it may be told. The log keeps an id for each of them."""
        return 1

    def payload(self) -> dict[str, Any]:
        """The body without `id` and `type`: `op`, then every field that is not absent. The keys of
        internal fields begin with an underscore.
        """
        body: dict[str, Any] = {} if self.op is None else {"op": self.op}
        for name, key in self._keys:
            value = getattr(self, name)
            if value is not ABSENT:
                body[key] = value
        return body


# --- the log ----------------------------------------------------------------------------------

LOCKS = 1
"""The family of the locks of these logs."""
_EVENT = table_of(Event)
_INSERT = Change(insert(_EVENT))


def _id_after_gaps() -> ColumnElement[int]:
    """The last of :parts ids that no other event of the log has."""
    parts = bindparam("parts", type_=Integer)
    newest = select(literal_column("seq", Integer)).select_from(text("sqlite_sequence"))
    known = newest.where(literal_column("name") == literal(_EVENT.name)).scalar_subquery()
    drawn = select(func.nextval(func.pg_get_serial_sequence(_EVENT.name, "id")).label("drawn"))
    drawn_ids = drawn.select_from(func.generate_series(1, parts)).subquery()
    return ByDialect(
        sqlite=func.coalesce(known, 0) + parts,
        postgresql=select(func.max(drawn_ids.c.drawn)).scalar_subquery(),
    )


_INSERT_AFTER_GAPS = Change(insert(_EVENT).values(id=_id_after_gaps()))
"""For rows whose events have several parts."""

AddressedEvent = tuple[ClientEvent, Iterable[int] | None]
"""An event and the ids of the users who get it; None: everybody in the realm."""


def append(
    session: Session,
    realm_id: int,
    event: ClientEvent,
    *,
    now: datetime,
    user_ids: Iterable[int] | None = None,
    to_administrators: bool = False,
) -> None:
    """One event for `user_ids`, else for the realm's administrators, else for everyone.

    An event for nobody is not kept.
    """
    row = _row(realm_id, event, now, user_ids, to_administrators)
    if row is not None:
        at_the_end(session, _write, [row])


def append_all(
    session: Session, realm_id: int, occurrences: Iterable[AddressedEvent], *, now: datetime
) -> None:
    """Several events, in order."""
    rows = [
        row
        for event, user_ids in occurrences
        if (row := _row(realm_id, event, now, user_ids)) is not None
    ]
    at_the_end(session, _write, rows)


def _write(session: Session, rows: list[dict[str, Any]]) -> None:
    """All events of a unit of work, in one statement; the ids of a realm in commit order."""
    realm_ids = {row["realm_id"] for row in rows}
    lock_logs(session, LOCKS, realm_ids)
    if any("parts" in row for row in rows):
        _INSERT_AFTER_GAPS.run_all(session, [{"parts": 1, **row} for row in rows])
    else:
        _INSERT.run_all(session, rows)
    notify_logs(session, realm_ids)


def _row(
    realm_id: int,
    event: ClientEvent,
    now: datetime,
    user_ids: Iterable[int] | None,
    to_administrators: bool = False,
) -> dict[str, Any] | None:
    recipients = None if user_ids is None else sorted(set(user_ids))
    if recipients == []:
        return None
    audience = "administrators" if to_administrators else "realm" if recipients is None else "users"
    row = {
        "realm_id": realm_id,
        "type": event.type,
        "payload": orjson.dumps(event.payload()).decode(),
        "audience": audience,
        "user_ids": None if recipients is None else orjson.dumps(recipients).decode(),
        "channel_id": event.channel_id,
        "at": now,
    }
    return row if event.parts == 1 else {**row, "parts": event.parts}
