"""The edit history of a message."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, bindparam, func, select

from models.chat.editing.errors import EditHistoryDisabled
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView, access_message
from models.chat.messages.edit_history import Edit, find_open_places, undo_move
from models.chat.rendering import coarse_html_diff, content_html_diff
from models.chat.tables import MessageEdit
from models.chat.topics.names import display_topic
from models.dialects import byte_length, id_in
from models.rows import columns_of, read_rows
from specd.db import Db, Query

MAX_EDITS = 100
"""Maximum number of edits in one response. The newest edits are returned, without earlier
content.
"""
MAX_BYTES = 2_000_000
"""Maximum size of texts in one response, from the newest edits. Each text is in memory about four
times.
"""
MAX_DIFFED = 200_000
"""Maximum number of characters that are compared for one response, newest edits first."""

_EDITS = (
    select(*columns_of(Edit, MessageEdit))
    .where(MessageEdit.message_id == bindparam("message_id"))
    .order_by(MessageEdit.id.desc())
    .limit(bindparam("most", type_=Integer))
)
_SIZES: Query[int] = Query(
    select(
        func.coalesce(byte_length(MessageEdit.prev_content), 0)
        + func.coalesce(byte_length(MessageEdit.prev_rendered_content), 0)
    )
    .where(MessageEdit.message_id == bindparam("message_id"))
    .order_by(MessageEdit.id.desc())
    .limit(MAX_EDITS + 1)
)
"""Sizes of the texts of the newest edits in bytes, newest first."""


def find_most_moved(db: Db, message_ids: Sequence[int]) -> int | None:
    """Return the message with the most moves among these messages, or None if none was only
    moved.
    """
    moves = (
        select(MessageEdit.message_id)
        .where(id_in(MessageEdit.message_id, message_ids), MessageEdit.prev_content.is_(None))
        .group_by(MessageEdit.message_id)
        .order_by(func.count().desc())
        .limit(1)
    )
    return db.execute(moves).scalar_one_or_none()


def find_history(
    db: Db, actor: Actor, message_id: int, *, allow_empty_topic_name: bool
) -> list[dict[str, Any]]:
    """Return snapshots, oldest first: the original message, and the message after each edit. If
    there are more edits than `MAX_EDITS`, or more text than `MAX_BYTES`, the older edits are left
    out and the first snapshot is the message after them.

    There are no snapshots of the time when the message was in a channel that the actor may not
    read. If the organization shows only moves, edits of content are left out, and the other edits
    have no content fields.

    Raise `EditHistoryDisabled`, `InvalidMessage`.
    """
    policy = actor.realm.message_edit_history_visibility_policy
    if policy == "none":
        raise EditHistoryDisabled()
    message = access_message(db, actor, message_id)

    def shown(topic: str) -> str:
        if message.channel_id is None:
            return ""
        empty = actor.realm.empty_topic_display_name
        return display_topic(topic, empty_name=empty, allow_empty=allow_empty_topic_name)

    sizes = [size for (size,) in _SIZES.all(db, {"message_id": message.id})]
    count = _count_within_limits(sizes, message, moves_only=policy == "moves")
    values = {"message_id": message.id, "most": count + 1}
    edits = read_rows(Edit, db.execute(_EDITS, values))
    began_at = message.sent_at
    author_id: int | None = message.sender_id
    if len(edits) > count:
        began_at, author_id = edits[-1].edited_at, edits[-1].editor_id
    newest = edits[:count]
    before = {edit.prev_channel_id for edit in newest if edit.prev_channel_id is not None}
    readable = find_open_places(db, actor, before - {message.channel_id}) | {message.channel_id}
    past = _Past(message, shown, readable, with_content=policy == "all")
    snapshots: list[dict[str, Any]] = []
    for edit in newest:
        is_readable = past.channel_id in readable
        snapshot = past.undo(edit)
        moved = edit.prev_topic is not None or edit.prev_channel_id is not None
        if is_readable and (policy == "all" or moved):
            snapshots.append(snapshot)
    if past.channel_id in readable:
        snapshots.append(past.snapshot(began_at, author_id))
    if policy == "moves":
        # Earlier contents are hidden, so every snapshot has the current content.
        for snapshot in snapshots:
            snapshot["content"] = message.content
            snapshot["rendered_content"] = message.rendered_content
    return snapshots[::-1]


def _count_within_limits(sizes: Sequence[int], message: MessageView, *, moves_only: bool) -> int:
    """Return the number of newest edits that fit in one response: at least one, at most
    `MAX_EDITS`.

    With `moves_only`, every snapshot has the current content.
    """
    now = len(message.content.encode()) + len(message.rendered_content.encode())
    left = MAX_BYTES - now
    for count, size in enumerate(sizes[:MAX_EDITS]):
        left -= now if moves_only else size
        if left < 0 and count:
            return count
    return MAX_EDITS


class _Past:
    """A message at an earlier time. It starts with the current message, and `undo` reverts one
    edit.
    """

    def __init__(
        self,
        message: MessageView,
        shown: Callable[[str], str],
        readable: set[int | None],
        *,
        with_content: bool,
    ) -> None:
        self.channel_id = message.channel_id
        self._topic = message.topic
        self._content = message.content
        self._rendered = message.rendered_content
        self._shown = shown
        self._readable = readable
        self._with_content = with_content
        self._left = MAX_DIFFED

    def snapshot(self, at: datetime, user_id: int | None) -> dict[str, Any]:
        """Return the message in its current state of `undo`, with the time and user of the edit
        before it.
        """
        return {
            "topic": self._shown(self._topic),
            "content": self._content,
            "rendered_content": self._rendered,
            "timestamp": int(at.timestamp()),
            "user_id": user_id,
        }

    def undo(self, edit: Edit) -> dict[str, Any]:
        """Revert an edit. Return the snapshot after the edit, with the changed fields."""
        snapshot = self.snapshot(edit.edited_at, edit.editor_id)
        changed, self.channel_id = undo_move(edit, self.channel_id, self._readable)
        if "prev_topic" in changed:
            changed["prev_topic"] = self._shown(changed["prev_topic"])
        snapshot |= changed
        if edit.prev_topic is not None:
            self._topic = edit.prev_topic
        if edit.prev_content is not None and edit.prev_rendered_content is not None:
            if self._with_content:
                snapshot |= self._compare(edit.prev_content, edit.prev_rendered_content)
            self._content, self._rendered = edit.prev_content, edit.prev_rendered_content
        return snapshot

    def _compare(self, content: str, rendered: str) -> dict[str, Any]:
        """Return the content before the edit, and the difference. The difference is coarse if more
        than `MAX_DIFFED` characters have been compared.
        """
        self._left -= len(rendered) + len(self._rendered)
        compare = content_html_diff if self._left >= 0 else coarse_html_diff
        return {
            "prev_content": content,
            "prev_rendered_content": rendered,
            "content_html_diff": compare(rendered, self._rendered),
        }
