"""Calls about messages: send, edit, move, delete, flag, schedule."""

from __future__ import annotations

from typing import Any

from tests.contract.continuity.operations.table import operation
from tests.contract.continuity.world import WORDS, Call, World, call
from tests.support.chat.people import Member

FLAGS = ("read", "read", "starred", "collapsed")


def _to(world: World, member: Member) -> dict[str, Any]:
    """Return a conversation to which a user writes, usually a channel with their subscription."""
    if world.flip(0.3):
        others = [world.random_member().id for _ in range(world.pick(1, 1, 2))]
        return {"type": "direct", "to": others}
    sql = "SELECT channel_id AS id FROM subscription WHERE user_id = :member AND is_active"
    channel = world.row(f"{sql} ORDER BY channel_id", member=member.id)
    return {"type": "channel", "to": channel.id, "topic": world.topic()}


@operation
def send_message(world: World) -> Call:
    member = world.random_member()
    form = _to(world, member)
    content = world.words() if world.flip(0.75) else f"/poll {world.pick(*WORDS)}\nYes\nNo"
    return call(member, "POST", "/messages", content=content, **form)


@operation
def add_submessage(world: World) -> Call:
    row = world.row("SELECT message_id FROM submessage ORDER BY id")
    vote = {"type": "vote", "key": "canned,0", "vote": world.pick(1, -1)}
    form = {"message_id": row.message_id, "msg_type": "widget", "content": vote}
    return call(world.random_member(), "POST", "/submessage", **form)


@operation
def update_message(world: World) -> Call:
    message = world.message()
    form: dict[str, Any] = {"propagate_mode": world.pick("change_one", "change_later")}
    kind = world.pick("content", "topic", "topic", "stream_id")
    by = world.author_of(message) if kind == "content" else world.member_among("cordelia", "iago")
    match kind:
        case "content":
            form = {"content": world.words()}
        case "topic":
            form["topic"] = world.topic()
        case "stream_id":
            form["stream_id"] = world.channel().id
    if world.flip(0.3) and kind != "content":
        form["propagate_mode"] = "change_all"
        form["send_notification_to_new_thread"] = True
    return call(by, "PATCH", f"/messages/{message.id}", **form)


@operation
def delete_message(world: World) -> Call:
    message = world.message()
    by = world.pick(world.author_of(message), world.members["cordelia"])
    return call(by, "DELETE", f"/messages/{message.id}")


@operation
def report_message(world: World) -> Call:
    member = world.person()
    path = f"/messages/{world.message_of(member).id}/report"
    return call(member, "POST", path, report_type="spam")


@operation
def set_typing_status(world: World) -> Call:
    others = [world.person().id]
    return call(world.person(), "POST", "/typing", op="start", type="direct", to=others)


@operation
def set_edit_typing_status(world: World) -> Call:
    message = world.message()
    by = world.author_of(message)
    return call(by, "POST", f"/messages/{message.id}/typing", op="start")


@operation
def update_message_flags(world: World) -> Call:
    member = world.random_member()
    ids = sorted({world.message_of(member).id for _ in range(3)} | {world.message().id})
    form = {"op": world.pick("add", "remove"), "flag": world.pick(*FLAGS)}
    return call(member, "POST", "/messages/flags", messages=ids, **form)


@operation
def update_message_flags_for_narrow(world: World) -> Call:
    narrow = world.pick([], [{"operator": "is", "operand": "unread"}])
    form = {"op": world.pick("add", "remove"), "flag": world.pick(*FLAGS), "narrow": narrow}
    form |= {"anchor": "newest", "num_before": 4, "num_after": 0}
    return call(world.random_member(), "POST", "/messages/flags/narrow", **form)


@operation
def mark_all_as_read(world: World) -> Call:
    return call(world.random_member(), "POST", "/mark_all_as_read")


@operation
def mark_channel_as_read(world: World) -> Call:
    return call(world.random_member(), "POST", "/mark_stream_as_read", stream_id=world.channel().id)


@operation
def mark_topic_as_read(world: World) -> Call:
    member = world.random_member()
    message = world.message_of(member)
    form = {"stream_id": message.channel_id, "topic_name": message.topic}
    return call(member, "POST", "/mark_topic_as_read", **form)


@operation
def delete_topic(world: World) -> Call:
    place = world.row(
        "SELECT channel_id, topic FROM message WHERE realm_id = :realm AND channel_id IS NOT NULL"
        " ORDER BY id DESC LIMIT 30"
    )
    path = f"/streams/{place.channel_id}/delete_topic"
    return call(world.administrator(), "POST", path, topic_name=place.topic)


@operation
def add_reaction(world: World) -> Call:
    member = world.random_member()
    path = f"/messages/{world.message_of(member).id}/reactions"
    return call(member, "POST", path, emoji_name=world.pick("car", "octopus", "zulip"))


@operation
def remove_reaction(world: World) -> Call:
    row = world.row("SELECT message_id, user_id, emoji_name FROM reaction ORDER BY id")
    path = f"/messages/{row.message_id}/reactions"
    return call(world.member(row.user_id), "DELETE", path, emoji_name=row.emoji_name)


# --- scheduled ------------------------------------------------------------------------------------


@operation
def create_scheduled_message(world: World) -> Call:
    member = world.person()
    form = _to(world, member) | {"content": world.words()}
    at = int(world.clock.now().timestamp()) + world.pick(3, 30, 300)
    return call(member, "POST", "/scheduled_messages", scheduled_delivery_timestamp=at, **form)


def _scheduled(world: World) -> tuple[Member, str]:
    return _unsent(world, "IS NULL", "/scheduled_messages")


def _unsent(world: World, target: str, path: str) -> tuple[Member, str]:
    row = world.row(
        "SELECT id, sender_id FROM scheduled_message"
        f" WHERE state <> 'sent' AND target_message_id {target} ORDER BY id"
    )
    return world.member(row.sender_id), f"{path}/{row.id}"


@operation
def update_scheduled_message(world: World) -> Call:
    member, path = _scheduled(world)
    at = int(world.clock.now().timestamp()) + world.pick(3, 30, 300)
    form = world.pick({"content": world.words()}, {"scheduled_delivery_timestamp": at})
    return call(member, "PATCH", path, **form)


@operation
def delete_scheduled_message(world: World) -> Call:
    member, path = _scheduled(world)
    return call(member, "DELETE", path)


@operation
def create_reminder(world: World) -> Call:
    row = world.row("SELECT message_id, user_id FROM user_message ORDER BY message_id")
    member = world.member(row.user_id)
    at = int(world.clock.now().timestamp()) + world.pick(3, 30, 300)
    form = {"message_id": row.message_id, "note": world.words(), "scheduled_delivery_timestamp": at}
    return call(member, "POST", "/reminders", **form)


@operation
def delete_reminder(world: World) -> Call:
    member, path = _unsent(world, "IS NOT NULL", "/reminders")
    return call(member, "DELETE", path)
