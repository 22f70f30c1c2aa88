"""Operations of the tag messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.common.errors import MissingParameter
from models.chat.common.quotas import MESSAGE_EDITS, MESSAGE_MOVES, require_within
from models.chat.deletion import messages as deletion
from models.chat.editing import history as message_history
from models.chat.editing import messages as editing
from models.chat.editing.moving import Changes
from models.chat.events.messages import LocalEcho
from models.chat.messages import receipts
from models.chat.messages import view as message_view
from models.chat.messages.access import access_message, find_readable
from models.chat.messages.view import ViewOptions
from models.chat.reading.listing import RangeRequest, list_range
from models.chat.reading.matching import find_matches
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending import messages as sending
from models.chat.sending import reports
from models.chat.sending.drafts import check_message, client_name
from models.chat.sending.errors import OneChannelExpected
from models.chat.sending.recipients import Destination, ToChannel, ToUsers
from models.json import Json
from specd import before_transaction, idempotent, read_only

if TYPE_CHECKING:
    from handlers.chat import types

DIRECT_TYPES = frozenset(("direct", "private"))


def _prepare_message(ctx: Context, *, content: str) -> PreparedText:
    return prepare_text(ctx.connection, ctx.actor, content)


def _sent_message(
    ctx: Context,
    text: PreparedText,
    *,
    type_: str,
    to: int | str | list[int] | list[str],
    topic: str | None = None,
    read_by_sender: bool | None = None,
    **others: object,
) -> dict[str, object]:
    return {
        "type": type_,
        "to": to,
        "content": text.content,
        "topic": topic,
        "read_by_sender": read_by_sender,
    }


@before_transaction(_prepare_message)
@idempotent(sent=_sent_message)
def send_message(
    ctx: Context,
    text: PreparedText,
    *,
    type_: str,
    to: int | str | list[int] | list[str],
    topic: str | None = None,
    client: str | None = None,
    read_by_sender: bool | None = None,
    queue_id: str | None = None,
    local_id: str | None = None,
) -> envelope.Answer[types.MessageSent]:
    """Send a message."""
    local: LocalEcho | None = None
    if queue_id is not None and local_id is not None:
        local = {"queue_id": queue_id, "local_id": local_id}
    draft = check_message(
        ctx.session,
        ctx.actor,
        _destination(type_, to),
        topic=topic,
        text=text,
        client=client_name(client, ctx.header("user-agent")),
        read_by_sender=read_by_sender,
    )
    sent = sending.send_message(ctx.session, draft, local=local, now=ctx.now)
    answer: types.MessageSent = {"result": "success", "msg": "", "id": sent.id}
    if sent.new_policy is not None:
        answer["automatic_new_visibility_policy"] = cast(
            "types.NewVisibilityPolicy", sent.new_policy
        )
    return envelope.success(ctx, answer)


def _destination(type_: str, to: int | str | list[int] | list[str]) -> Destination:
    if type_ in DIRECT_TYPES:
        if isinstance(to, str):
            return ToUsers([part.strip() for part in to.split(",") if part.strip()])
        return ToUsers([to] if isinstance(to, int) else to)
    if isinstance(to, list):
        if len(to) != 1:
            raise OneChannelExpected()
        to = to[0]
    return ToChannel(to)


def list_messages(
    ctx: Context,
    *,
    include_anchor: bool = True,
    client_extavatar: bool = True,
    apply_markdown: bool = True,
    allow_empty_topic_name: bool = False,
    use_first_unread_anchor: bool = False,
    anchor: str | None = None,
    anchor_date: str | None = None,
    num_before: int | None = None,
    num_after: int | None = None,
    narrow: list[Json] | None = None,
    message_ids: list[int] | None = None,
) -> envelope.Answer[types.MessageList]:
    """Get messages."""
    options = ViewOptions(apply_markdown, client_extavatar, allow_empty_topic_name)
    db, actor = ctx.connection, ctx.actor
    if message_ids is not None:
        readable_ids = find_readable(db, actor, message_ids)
        messages = message_view.find_messages(db, actor, readable_ids, options)
        return envelope.success(
            ctx,
            {
                "result": "success",
                "msg": "",
                "messages": cast("list[types.Message]", messages),
                "found_oldest": True,
                "found_newest": True,
                "found_anchor": True,
                "history_limited": False,
            },
        )
    if use_first_unread_anchor:
        anchor = "first_unread"
    if anchor is None:
        raise MissingParameter(var_name="anchor")
    if num_after is None:
        raise MissingParameter(var_name="num_after")
    if num_before is None:
        raise MissingParameter(var_name="num_before")
    request = RangeRequest(anchor, include_anchor, num_before, num_after, narrow or [], anchor_date)
    listed, messages = list_range(db, actor, request, options)
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "anchor": listed.anchor,
            "messages": cast("list[types.Message]", messages),
            "found_anchor": listed.found_anchor,
            "found_oldest": listed.found_oldest,
            "found_newest": listed.found_newest,
            "history_limited": False,
        },
    )


def get_message(
    ctx: Context,
    *,
    message_id: int,
    apply_markdown: bool = True,
    allow_empty_topic_name: bool = False,
) -> envelope.Answer[types.OneMessage]:
    """Get a message."""
    seen = access_message(ctx.connection, ctx.actor, message_id)
    options = ViewOptions(apply_markdown, False, allow_empty_topic_name)
    (message,) = message_view.find_messages(ctx.connection, ctx.actor, [seen.id], options)
    return envelope.success(
        ctx, {**envelope.OK, "message": cast("types.Message", message), "raw_content": seen.content}
    )


def _prepare_edit(ctx: Context, *, content: str | None = None) -> PreparedText | None:
    return None if content is None else editing.prepare_edit(ctx.connection, ctx.actor, content)


@before_transaction(_prepare_edit)
def update_message(
    ctx: Context,
    text: PreparedText | None,
    *,
    message_id: int,
    propagate_mode: str = "change_one",
    send_notification_to_old_thread: bool,
    send_notification_to_new_thread: bool,
    content: str | None = None,
    prev_content_sha256: str | None = None,
    topic: str | None = None,
    stream_id: int | None = None,
) -> envelope.Answer[types.MessageUpdated]:
    """Edit or move a message."""
    changes = Changes(
        content=content,
        prev_content_sha256=prev_content_sha256,
        topic=topic,
        channel_id=stream_id,
        propagate_mode=propagate_mode,
        notify_old_thread=send_notification_to_old_thread,
        notify_new_thread=send_notification_to_new_thread,
    )
    edited = editing.edit_message(
        ctx.session, ctx.actor, message_id, changes, text=text, now=ctx.now
    )
    require_within(ctx.session, ctx.settings, MESSAGE_EDITS, message_id)
    moved_most = message_history.find_most_moved(ctx.session, edited.moved_ids)
    if moved_most is not None:
        require_within(ctx.session, ctx.settings, MESSAGE_MOVES, moved_most)
    return envelope.success(
        ctx, {**envelope.OK, "detached_uploads": cast("list[types.Attachment]", edited.detached)}
    )


def delete_message(ctx: Context, *, message_id: int) -> envelope.Answer[types.Success]:
    """Delete a message."""
    deletion.delete_message(ctx.session, ctx.actor, message_id, now=ctx.now)
    return envelope.success(ctx)


def list_message_history(
    ctx: Context, *, message_id: int, allow_empty_topic_name: bool = False
) -> envelope.Answer[types.MessageHistory]:
    """Get a message's edit history."""
    history = message_history.find_history(
        ctx.connection, ctx.actor, message_id, allow_empty_topic_name=allow_empty_topic_name
    )
    return envelope.success(
        ctx, {**envelope.OK, "message_history": cast("list[types.MessageSnapshot]", history)}
    )


def list_read_receipts(ctx: Context, *, message_id: int) -> envelope.Answer[types.ReadReceipts]:
    """Get a message's read receipts."""
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "user_ids": receipts.find_reader_ids(ctx.connection, ctx.actor, message_id),
        },
    )


@read_only  # and answers with up to 10 MB of messages
def check_messages_match_narrow(
    ctx: Context, *, msg_ids: list[int], narrow: list[Json], allow_empty_topic_name: bool = False
) -> envelope.Answer[types.MatchingMessages]:
    """Check whether messages match a narrow."""
    options = ViewOptions(allow_empty_topic_name=allow_empty_topic_name)
    matches = find_matches(ctx.connection, ctx.actor, msg_ids, narrow, options)
    found = {str(id_): cast("types.MatchingMessage", match) for id_, match in matches.items()}
    return envelope.success(ctx, {**envelope.OK, "messages": found})


def report_message(
    ctx: Context, *, message_id: int, report_type: str, description: str | None = None
) -> envelope.Answer[types.Success]:
    """Report a message."""
    reports.report_message(
        ctx.session,
        ctx.actor,
        message_id,
        report_type=report_type,
        description=description,
        now=ctx.now,
    )
    return envelope.success(ctx)


@read_only
def render_text(ctx: Context, *, content: str) -> envelope.Answer[types.RenderedText]:
    """Render a text as a message."""
    text = prepare_text(ctx.connection, ctx.actor, content)
    return envelope.success(ctx, {**envelope.OK, "rendered": text.rendered.html})
