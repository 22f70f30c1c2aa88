"""The newest edits of messages as message objects list them: those of however many messages are
read in one statement. Where a message stood in a channel that the reader may not read, nothing is
told of that time.
"""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from sqlalchemy import ColumnElement, Select, Text, func, null, or_, select

from models.chat.access.channels import find_channels, has_content_access
from models.chat.identity.actors import Actor
from models.chat.tables import MessageEdit
from models.chat.topics.names import display_topic
from models.dialects import bound_in
from models.prepared import Query
from models.reader import Db

MOST_EDITS = 20
"""Of one message in a message object: the newest."""
MOST_TEXT = 20_000
"""Characters that the edits of a message object hold; the newest edit may hold more."""


class Edit(Protocol):
    """An edit, as far as it takes to go back in time; see `MessageEdit`."""

    @property
    def editor_id(self) -> int | None: ...
    @property
    def edited_at(self) -> datetime: ...
    @property
    def prev_topic(self) -> str | None: ...
    @property
    def prev_channel_id(self) -> int | None: ...
    @property
    def prev_content(self) -> str | None: ...
    @property
    def prev_rendered_content(self) -> str | None: ...


class Edited(Protocol):
    """A message that was edited or moved."""

    @property
    def id(self) -> int: ...
    @property
    def channel_id(self) -> int | None: ...
    @property
    def topic(self) -> str: ...


def find_edit_histories(
    db: Db, viewer: Actor, messages: Collection[Edited], *, allow_empty_topic_name: bool
) -> dict[int, list[dict[str, Any]]]:
    """Message id -> what may be told of its newest edits, the newest first; for messages of which
    there is something to tell. Nothing where the organization shows no edits.
    """
    policy = viewer.realm.message_edit_history_visibility_policy
    if policy == "none" or not messages:
        return {}
    edits: dict[int, list[Edit]] = defaultdict(list)
    asked = {"message_ids": [each.id for each in messages]}
    for found in map(_EditRow._make, (_EDITS if policy == "all" else _MOVES).all(db, asked)):
        edits[found.message_id].append(found)
    before = {edit.prev_channel_id for each in edits.values() for edit in each} - {None}
    open_places = find_open_places(db, viewer, [place for place in before if place is not None])

    def shown(topic: str) -> str:
        empty = viewer.realm.empty_topic_display_name
        return display_topic(topic, empty_name=empty, allow_empty=allow_empty_topic_name)

    histories: dict[int, list[dict[str, Any]]] = {}
    for message in messages:
        readable = open_places | {message.channel_id}
        channel_id, topic = message.channel_id, message.topic
        for edit in edits.get(message.id, ()):
            told, came_from = undo_move(edit, channel_id, readable)
            if "prev_topic" in told:
                told |= {"prev_topic": shown(told["prev_topic"]), "topic": shown(topic)}
            if edit.prev_content is not None:
                told["prev_content"] = edit.prev_content
                told["prev_rendered_content"] = edit.prev_rendered_content
            if told and channel_id in readable:
                told |= {"user_id": edit.editor_id, "timestamp": int(edit.edited_at.timestamp())}
                histories.setdefault(message.id, []).append(told)
            channel_id = came_from
            topic = topic if edit.prev_topic is None else edit.prev_topic
    return histories


class _EditRow(NamedTuple):
    """An edit as `_edits` selects it; fits `Edit`."""

    message_id: int
    editor_id: int | None
    edited_at: datetime
    prev_topic: str | None
    prev_channel_id: int | None
    prev_content: str | None
    prev_rendered_content: str | None


def _edits(*, tells_content: bool) -> Select[*tuple[Any, ...]]:
    """The edits to tell of messages :message_ids, each one's newest first; without content only
    moves.
    """
    own, newest_first = MessageEdit.message_id, MessageEdit.id.desc()
    content: ColumnElement[str | None] = MessageEdit.prev_content.expression
    rendered: ColumnElement[str | None] = MessageEdit.prev_rendered_content.expression
    wanted = bound_in(MessageEdit.message_id, "message_ids")
    if not tells_content:
        content = rendered = null().cast(Text)
        wanted &= or_(MessageEdit.prev_topic.is_not(None), MessageEdit.prev_channel_id.is_not(None))
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
        .where(wanted)
        .subquery()
    )
    fits = (listed.c.place <= MOST_EDITS) & (listed.c.size <= MOST_TEXT)
    return (
        select(*(listed.c[name] for name in _EditRow._fields))
        .where(fits | (listed.c.place == 1))
        .order_by(listed.c.message_id, listed.c.place)
    )


_EDITS = Query(_edits(tells_content=True))
_MOVES = Query(_edits(tells_content=False))


def undo_move(
    edit: Edit, channel_id: int | None, readable: Collection[int | None]
) -> tuple[dict[str, Any], int | None]:
    """What may be told of the move that an edit was, of a message that it left in that channel, and
    the channel before it. Topics are as they are stored.
    """
    came_from = channel_id if edit.prev_channel_id is None else edit.prev_channel_id
    told: dict[str, Any] = {}
    if came_from in readable:
        if edit.prev_topic is not None:
            told["prev_topic"] = edit.prev_topic
        if edit.prev_channel_id is not None:
            told |= {"stream": channel_id, "prev_stream": came_from}
    return told, came_from


def find_open_places(db: Db, actor: Actor, channel_ids: Collection[int]) -> set[int | None]:
    """Those of the channels of which the actor may hear what stood there once. In a protected
    history nobody reads what they were not there for, and a copy that came with a later place does
    not say that they were.
    """
    if not channel_ids:
        return set()
    return {
        channel.id
        for channel in find_channels(db, actor, channel_ids=channel_ids)
        if not channel.has_protected_history and has_content_access(db, actor, channel)
    }
