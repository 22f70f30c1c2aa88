"""Polls and to-do lists.

Users vote, add options and tasks, and more. The server stores these changes in order, and clients
compute the current state from them.
"""

from collections.abc import Mapping
from datetime import datetime

import orjson
from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.common.errors import QuotaExceeded
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.messages import SubmessageEvent
from models.chat.identity.actors import Actor
from models.chat.messages.access import access_open_message
from models.chat.messages.submessages import WIDGET, find_widget_type, insert_submessage
from models.chat.messages.widgets import POLL, TODO
from models.chat.tables import Submessage
from models.json import Json
from specd.db import table_of


class MessageHasNoWidget(ChatError):
    """The message is neither a poll nor a to-do list."""

    sentence = "You cannot attach a submessage to this message."
    advice = "Send a message that begins with `/poll` or `/todo`, and use its id."


class UnknownWidgetChange(ChatError):
    """The submessage is for another kind of widget. Facts: `widget`, `type`."""

    sentence = "Unknown type for {widget} data: {type}"
    advice = "Read the `widget_type` in the first submessage of the message."


class QuestionOfAnother(ChatError):
    """Only the sender of a poll can change its question."""

    sentence = "You can't edit a question unless you are the author."
    advice = "Ask the sender of the message to change the question."


class TitleOfAnother(ChatError):
    """Only the sender of a to-do list can change its title."""

    sentence = "You can't edit the task list title unless you are the author."
    advice = "Ask the sender of the message to change the title."


VOTE, QUESTION, TITLE = "vote", "question", "new_task_list_title"
CHANGES = {
    POLL: frozenset((VOTE, "new_option", QUESTION)),
    TODO: frozenset(("new_task", "strike", TITLE)),
}
"""Widget -> the types of submessages that it accepts."""
MAX_BYTES = 500_000
"""Maximum size of all submessages of one message."""
_TABLE = table_of(Submessage)
_CONTENTS = select(_TABLE.c.content).where(_TABLE.c.message_id == bindparam("of_message_id"))


def add_submessage(
    session: Session, actor: Actor, message_id: int, change: Mapping[str, Json], *, now: datetime
) -> None:
    """Store a change of the widget by the actor, and notify all users who may read the message.
    `change` has one of the document's forms, depending on its `type`.

    Raise `InvalidMessage`, `MessageHasNoWidget`, `UnknownWidgetChange`, `QuestionOfAnother`,
    `TitleOfAnother`, `QuotaExceeded`.
    """
    message = access_open_message(session, actor, message_id)
    widget, kind = find_widget_type(session, message), change["type"]
    if widget is None:
        raise MessageHasNoWidget()
    if kind not in CHANGES[widget]:
        raise UnknownWidgetChange(widget=widget, type=kind)
    if message.sender_id != actor.id and kind in (QUESTION, TITLE):
        raise QuestionOfAnother() if kind == QUESTION else TitleOfAnother()
    if kind == VOTE:
        _forget_vote(session, actor, message_id, change)
    content = _text_of(change)
    submessage_id = insert_submessage(session, actor.id, message_id, content)
    contents = session.connection().execute(_CONTENTS, {"of_message_id": message_id}).scalars()
    if sum(len(content.encode()) for content in contents) > MAX_BYTES:
        raise QuotaExceeded(what="bytes in the submessages of this message", limit=MAX_BYTES)
    event = SubmessageEvent(
        msg_type=WIDGET,
        message_id=message_id,
        submessage_id=submessage_id,
        sender_id=actor.id,
        content=content,
        place=message.channel_id,
    )
    readers = find_readers(session, message.channel, [message_id])
    log.append(session, actor.realm_id, event, user_ids=[*readers, actor.id], now=now)


def _forget_vote(session: Session, actor: Actor, message_id: int, vote: Mapping[str, Json]) -> None:
    """Delete the actor's earlier votes for an option, because only the newest vote counts."""
    before = [_text_of({**vote, "vote": value}) for value in (1, -1)]
    session.connection().execute(
        delete(_TABLE).where(
            _TABLE.c.message_id == message_id,
            _TABLE.c.sender_id == actor.id,
            _TABLE.c.content.in_(before),
        )
    )


def _text_of(change: Mapping[str, Json]) -> str:
    return orjson.dumps(change, option=orjson.OPT_SORT_KEYS).decode()
