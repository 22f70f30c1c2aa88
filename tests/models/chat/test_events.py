"""Kinds of events: one class each, discovered without a list, serialized as clients expect."""

import importlib
import pkgutil
import re
from dataclasses import FrozenInstanceError, fields
from typing import Any

import orjson
import pytest
from sqlalchemy import event as hooks
from sqlalchemy import select
from sqlalchemy.orm import Session

import models.chat
from models.chat.events import log
from models.chat.events.account import DeviceUpdateEvent, HasZoomTokenEvent
from models.chat.events.channels import DefaultStreamsEvent, StreamDeleteEvent
from models.chat.events.log import ABSENT, ClientEvent, or_absent
from models.chat.events.messages import DeleteMessageEvent
from models.chat.tables import Event
from specd.db import Database
from tests.support.chat.event_kinds import list_kinds
from tests.support.chat.people import CAST_MADE_AT, Cast


def test_every_kind_is_listed() -> None:
    for module in pkgutil.walk_packages(models.chat.__path__, "models.chat."):
        importlib.import_module(module.name)
    assert set(list_kinds()) == set(ClientEvent.__subclasses__())
    assert {kind.__module__.rpartition(".")[0] for kind in list_kinds()} == {"models.chat.events"}


def test_each_type_and_op_has_one_class() -> None:
    names = [(kind.type, kind.op) for kind in list_kinds()]
    assert len(set(names)) == len(names) > 30
    assert {"message", "subscription", "has_zoom_token"} <= {name for name, _ in names}


@pytest.mark.parametrize("kind", list_kinds(), ids=lambda kind: kind.__name__)
def test_class_name_follows_type_and_op(kind: Any) -> None:
    words = f"{kind.type}_{kind.op or ''}".split("_")
    assert kind.__name__ == "".join(word.capitalize() for word in words) + "Event"
    column: Any = Event.__table__.c.type.type
    assert len(kind.type) <= column.length
    assert kind.__doc__
    assert not {field.name for field in fields(kind)} & {"id", "type", "op"}


def test_functions_named_in_docstrings_exist() -> None:
    docs = "".join(kind.__doc__ or "" for kind in list_kinds())
    makers = re.findall(r"`(models\.[a-z_.]+)`", docs)
    assert makers
    for name in makers:
        assert pkgutil.resolve_name(name), name


def test_type_with_an_op_has_one_in_each_kind() -> None:
    with_op = {kind.type for kind in list_kinds() if kind.op is not None}
    assert not with_op & {kind.type for kind in list_kinds() if kind.op is None}


def test_payload_omits_absent_fields_and_keeps_null() -> None:
    event = DeviceUpdateEvent(device_id=3, push_token_id=None, push_key_id=or_absent(None))
    assert event.payload() == {"op": "update", "device_id": 3, "push_token_id": None}
    assert event.push_key_id is ABSENT
    assert HasZoomTokenEvent(value=False).payload() == {"value": False}


def test_payload_begins_with_op() -> None:
    told = StreamDeleteEvent.of([7, 9]).payload()
    assert list(told) == ["op", "streams", "stream_ids"]
    assert told["streams"] == [{"stream_id": 7}, {"stream_id": 9}]


def test_deleted_direct_messages_name_no_channel() -> None:
    event = DeleteMessageEvent.of([5], None, "")
    assert event.payload() == {"message_ids": [5], "message_type": "private"}


def test_event_is_immutable() -> None:
    event: Any = HasZoomTokenEvent(value=True)
    with pytest.raises(FrozenInstanceError):
        event.value = False


def stored_events(database: Database, count: int) -> list[tuple[str, Any, str, str | None]]:
    """Return type, body, audience and recipients of the newest events, oldest first."""
    with database.reading() as reader:
        rows = reader.execute(select(Event.__table__).order_by(Event.id)).all()[-count:]
    return [(row.type, orjson.loads(row.payload), row.audience, row.user_ids) for row in rows]


def test_events_are_stored_in_order_by_one_statement(chat_database: Database, cast: Cast) -> None:
    statements: list[str] = []
    told: list[log.AddressedEvent] = [
        (HasZoomTokenEvent(value=True), [9, 4, 9]),
        (DefaultStreamsEvent(default_streams=[1]), None),
        (HasZoomTokenEvent(value=False), []),
    ]

    def record_insert(*asked: Any) -> None:
        if "INSERT" in asked[2]:
            statements.append(asked[2])

    def append_events(session: Session) -> None:
        hooks.listen(session.get_bind(), "before_cursor_execute", record_insert)
        log.append_all(session, cast.realm_id, told[:1], now=CAST_MADE_AT)
        log.append_all(session, cast.realm_id, told[1:], now=CAST_MADE_AT)

    chat_database.run(append_events)
    assert len(statements) == 1, "at the end of the unit"
    assert stored_events(chat_database, 2) == [
        ("has_zoom_token", {"value": True}, "users", "[4,9]"),
        ("default_streams", {"default_streams": [1]}, "realm", None),
    ]


def test_event_for_administrators_is_stored_with_its_audience(
    chat_database: Database, cast: Cast
) -> None:
    event = DefaultStreamsEvent(default_streams=[])
    chat_database.run(
        lambda session: log.append(
            session, cast.realm_id, event, to_administrators=True, now=CAST_MADE_AT
        )
    )
    assert stored_events(chat_database, 1) == [
        ("default_streams", {"default_streams": []}, "administrators", None)
    ]
