"""What stands beside the text of messages that are polls or to-do lists, as clients see it."""

from collections.abc import Sequence
from typing import Any, Protocol

import orjson
from sqlalchemy import bindparam, insert, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.messages.widgets import describe_widget, widget_type_of
from models.chat.tables import Submessage
from models.dialects import bound_in
from models.prepared import Query
from models.reader import Db

WIDGET = "widget"
"""The only type of submessages."""
_TABLE = table_of(Submessage)
_INSERT = insert(_TABLE).returning(_TABLE.c.id)
_ROWS: Query[int, int, int, str] = Query(
    select(_TABLE.c.id, _TABLE.c.message_id, _TABLE.c.sender_id, _TABLE.c.content)
    .where(bound_in(_TABLE.c.message_id, "message_ids"))
    .order_by(_TABLE.c.id)
)
_SOME = select(_TABLE.c.id).where(_TABLE.c.message_id == bindparam("of_message_id")).limit(1)


class _Seen(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def content(self) -> str: ...


def find_submessages(db: Db, messages: Sequence[_Seen]) -> dict[int, list[dict[str, Any]]]:
    """Message id -> its submessages, the oldest first. Asks only for messages that are widgets."""
    ids = [message.id for message in messages if widget_type_of(message.content) is not None]
    found: dict[int, list[dict[str, Any]]] = {}
    if ids:
        for row in _ROWS.all(db, {"message_ids": ids}):
            found.setdefault(row[1], []).append(submessage_object(*row))
    return found


def find_widget_type(db: Db, message: _Seen) -> str | None:
    """`POLL` or `TODO`; None also where an edit made a text look like one."""
    kind = widget_type_of(message.content)
    if kind is not None and db.execute(_SOME, {"of_message_id": message.id}).first() is None:
        return None
    return kind


def attach_widget(
    session: Session, sender_id: int, message_id: int, content: str
) -> list[dict[str, Any]]:
    """Store the first submessage of a message just sent, if it is a widget. What it has now."""
    widget = describe_widget(content)
    if widget is None:
        return []
    text = orjson.dumps(widget).decode()
    made = insert_submessage(session, sender_id, message_id, text)
    return [submessage_object(made, message_id, sender_id, text)]


def insert_submessage(session: Session, sender_id: int, message_id: int, content: str) -> int:
    """The new submessage's id. `content`: JSON as text."""
    values = {"message_id": message_id, "sender_id": sender_id, "content": content}
    made: int = session.connection().execute(_INSERT, values).scalar_one()
    return made


def submessage_object(
    submessage_id: int, message_id: int, sender_id: int, content: str
) -> dict[str, Any]:
    """An element of `submessages` in message objects."""
    return {
        "id": submessage_id,
        "message_id": message_id,
        "sender_id": sender_id,
        "msg_type": WIDGET,
        "content": content,
    }
