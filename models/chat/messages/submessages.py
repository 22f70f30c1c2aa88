"""Submessages of polls and to-do lists: store and describe them."""

from collections.abc import Mapping
from typing import Any

import orjson
from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from models.chat.messages.access import MessageView
from models.chat.messages.widgets import describe_widget, widget_type_of
from models.chat.tables import Submessage
from models.dialects import in_parameter
from specd.db import Db, Query, table_of

WIDGET = "widget"
"""The only type of submessage."""
_TABLE = table_of(Submessage)
_INSERT = insert(_TABLE).returning(_TABLE.c.id)
_ROWS: Query[int, int, int, str] = Query(
    select(_TABLE.c.id, _TABLE.c.message_id, _TABLE.c.sender_id, _TABLE.c.content)
    .where(in_parameter(_TABLE.c.message_id, "message_ids"))
    .order_by(_TABLE.c.id)
)
_SOME = select(_TABLE.c.id).where(_TABLE.c.message_id == bindparam("of_message_id")).limit(1)


def find_submessages(db: Db, contents: Mapping[int, str]) -> dict[int, list[dict[str, Any]]]:
    """Return message id -> its submessages, oldest first, for messages that are widgets.

    `contents` maps message ids to contents.
    """
    ids = [id_ for id_, content in contents.items() if widget_type_of(content) is not None]
    submessages: dict[int, list[dict[str, Any]]] = {}
    if ids:
        for row_id, message_id, sender_id, content in _ROWS.all(db, {"message_ids": ids}):
            described = submessage_object(row_id, message_id, sender_id, content)
            submessages.setdefault(message_id, []).append(described)
    return submessages


def find_widget_type(db: Db, message: MessageView) -> str | None:
    """Return `POLL` or `TODO`. Return None for other messages, and for a text that became a widget
    command only by an edit.
    """
    kind = widget_type_of(message.content)
    if kind is not None and db.execute(_SOME, {"of_message_id": message.id}).first() is None:
        return None
    return kind


def attach_widget(
    session: Session, sender_id: int, message_id: int, content: str
) -> list[dict[str, Any]]:
    """Store the first submessage of a new message if it is a widget. Return its submessages."""
    widget = describe_widget(content)
    if widget is None:
        return []
    text = orjson.dumps(widget).decode()
    submessage_id = insert_submessage(session, sender_id, message_id, text)
    return [submessage_object(submessage_id, message_id, sender_id, text)]


def insert_submessage(session: Session, sender_id: int, message_id: int, content: str) -> int:
    """Store a submessage and return its id. `content` is JSON text."""
    values = {"message_id": message_id, "sender_id": sender_id, "content": content}
    submessage_id: int = session.connection().execute(_INSERT, values).scalar_one()
    return submessage_id


def submessage_object(
    submessage_id: int, message_id: int, sender_id: int, content: str
) -> dict[str, Any]:
    """Return an element of `submessages` in message objects."""
    return {
        "id": submessage_id,
        "message_id": message_id,
        "sender_id": sender_id,
        "msg_type": WIDGET,
        "content": content,
    }
