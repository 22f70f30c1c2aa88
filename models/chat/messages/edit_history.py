"""The newest edits of messages for message objects. One statement reads the edits of many messages.
Edits from a time when the message was in a channel that the reader may not read are hidden.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Text, func, null, or_, select

from models.chat.access.channels import find_channels, has_content_access
from models.chat.identity.actors import Actor
from models.chat.tables import MessageEdit
from models.chat.topics.names import display_topic
from models.dialects import in_parameter
from models.rows import RowQuery, columns_of
from specd.db import Db

MAX_EDITS = 20
"""Maximum number of edits in a message object. The newest edits are kept."""
MAX_TEXT = 20_000
"""Maximum number of characters in the edits of a message object. The newest edit may exceed it."""


class Edit(NamedTuple):
    """An edit. The fields are `MessageEdit`'s columns."""

    message_id: int
    editor_id: int | None
    edited_at: datetime
    prev_topic: str | None
    prev_channel_id: int | None
    prev_content: str | None
    prev_rendered_content: str | None


def find_edit_histories(
    db: Db,
    viewer: Actor,
    messages: Collection[tuple[int, int | None, str]],
    *,
    allow_empty_topic_name: bool,
) -> dict[int, list[dict[str, Any]]]:
    """Return message id -> its newest edits that the viewer may see, newest first, for messages
    that have any. Return nothing if the organization hides edits.

    `messages` are (id, channel id, topic).
    """
    policy = viewer.realm.message_edit_history_visibility_policy
    if policy == "none" or not messages:
        return {}
    edits: dict[int, list[Edit]] = defaultdict(list)
    query = _EDITS if policy == "all" else _MOVES
    for edit in query.all(db, {"message_ids": [message_id for message_id, *_ in messages]}):
        edits[edit.message_id].append(edit)
    before = {edit.prev_channel_id for each in edits.values() for edit in each} - {None}
    open_places = find_open_places(db, viewer, [place for place in before if place is not None])

    def shown(topic: str) -> str:
        empty = viewer.realm.empty_topic_display_name
        return display_topic(topic, empty_name=empty, allow_empty=allow_empty_topic_name)

    histories: dict[int, list[dict[str, Any]]] = {}
    for message_id, channel_id, topic in messages:
        readable = open_places | {channel_id}
        for edit in edits.get(message_id, ()):
            entry, prev_channel_id = undo_move(edit, channel_id, readable)
            if "prev_topic" in entry:
                entry |= {"prev_topic": shown(entry["prev_topic"]), "topic": shown(topic)}
            if edit.prev_content is not None:
                entry["prev_content"] = edit.prev_content
                entry["prev_rendered_content"] = edit.prev_rendered_content
            if entry and channel_id in readable:
                entry |= {"user_id": edit.editor_id, "timestamp": int(edit.edited_at.timestamp())}
                histories.setdefault(message_id, []).append(entry)
            channel_id = prev_channel_id
            topic = topic if edit.prev_topic is None else edit.prev_topic
    return histories


def _edits(*, with_content: bool) -> Select[*tuple[Any, ...]]:
    """Return the query for the edits of messages in `:message_ids`, newest first for each message.
    Without content, it returns only moves.
    """
    own, newest_first = MessageEdit.message_id, MessageEdit.id.desc()
    content: ColumnElement[str | None] = MessageEdit.prev_content.expression
    rendered: ColumnElement[str | None] = MessageEdit.prev_rendered_content.expression
    condition = in_parameter(MessageEdit.message_id, "message_ids")
    if not with_content:
        content = rendered = null().cast(Text)
        is_move = or_(MessageEdit.prev_topic.is_not(None), MessageEdit.prev_channel_id.is_not(None))
        condition &= is_move
    size = func.coalesce(func.length(content), 0) + func.coalesce(func.length(rendered), 0)
    listed = (
        select(
            MessageEdit.message_id,
            MessageEdit.editor_id,
            MessageEdit.edited_at,
            MessageEdit.prev_topic,
            MessageEdit.prev_channel_id,
            content.label("prev_content"),
            rendered.label("prev_rendered_content"),
            func.row_number().over(partition_by=own, order_by=newest_first).label("place"),
            func.sum(size).over(partition_by=own, order_by=newest_first).label("size"),
        )
        .where(condition)
        .subquery()
    )
    fits = (listed.c.place <= MAX_EDITS) & (listed.c.size <= MAX_TEXT)
    return (
        select(*columns_of(Edit, listed))
        .where(fits | (listed.c.place == 1))
        .order_by(listed.c.message_id, listed.c.place)
    )


_EDITS = RowQuery(Edit, _edits(with_content=True))
_MOVES = RowQuery(Edit, _edits(with_content=False))


def undo_move(
    edit: Edit, channel_id: int | None, readable: Collection[int | None]
) -> tuple[dict[str, Any], int | None]:
    """Return the entry of an edit that moved a message to that channel, with the fields that may be
    shown, and the previous channel. Topics are as stored.
    """
    prev_channel_id = channel_id if edit.prev_channel_id is None else edit.prev_channel_id
    entry: dict[str, Any] = {}
    if prev_channel_id in readable:
        if edit.prev_topic is not None:
            entry["prev_topic"] = edit.prev_topic
        if edit.prev_channel_id is not None:
            entry |= {"stream": channel_id, "prev_stream": prev_channel_id}
    return entry, prev_channel_id


def find_open_places(db: Db, actor: Actor, channel_ids: Collection[int]) -> set[int | None]:
    """Return the channels whose former messages the actor may see. In a channel with protected
    history, users cannot read messages from before they joined, and a copy from a later channel
    does not prove that they had joined.
    """
    if not channel_ids:
        return set()
    return {
        channel.id
        for channel in find_channels(db, actor, channel_ids=channel_ids)
        if not channel.has_protected_history and has_content_access(db, actor, channel)
    }
