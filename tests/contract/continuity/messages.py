"""How clients apply events of messages: unread, starred, newest and recent messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.contract.continuity.store import Event, Store, applies

MENTIONS = ("mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned")
Place = tuple[str, Any]
"""("streams", (stream id, displayed topic)), ("pms", other user id), ("huddles", ids)."""


# --- what is unread -------------------------------------------------------------------------------


def unread_ids(store: Store) -> set[int]:
    unread = store.state["unread_msgs"]
    places = (*unread["streams"], *unread["pms"], *unread["huddles"])
    return {message_id for place in places for message_id in place["unread_message_ids"]}


def _add(store: Store, place: Place, ids: Iterable[int]) -> None:
    kind, where = place
    unread = store.state["unread_msgs"][kind]
    for known in unread:
        if _is_at(store, kind, known, where):
            break
    else:
        known = _new_place(kind, where)
        unread.append(known)
    known["unread_message_ids"] = sorted({*known["unread_message_ids"], *ids})


def _new_place(kind: str, where: Any) -> dict[str, Any]:
    if kind == "streams":
        named = {"stream_id": where[0], "topic": where[1]}
    elif kind == "pms":
        named = {"other_user_id": where, "sender_id": where}
    else:
        named = {"user_ids_string": where}
    return {**named, "unread_message_ids": []}


def _is_at(store: Store, kind: str, known: dict[str, Any], where: Any) -> bool:
    if kind == "streams":
        same = store.topic_key(known["topic"]) == store.topic_key(where[1])
        return bool(known["stream_id"] == where[0] and same)
    return bool(known["other_user_id" if kind == "pms" else "user_ids_string"] == where)


def _remove(store: Store, ids: Iterable[int]) -> None:
    gone = set(ids)
    for kind in ("streams", "pms", "huddles"):
        unread = store.state["unread_msgs"][kind]
        for place in unread:
            place["unread_message_ids"] = [
                each for each in place["unread_message_ids"] if each not in gone
            ]
        unread[:] = [place for place in unread if place["unread_message_ids"]]
    _mention(store, gone, False)


def _mention(store: Store, ids: Iterable[int], is_mentioned: bool) -> None:
    before = set(store.state["unread_msgs"]["mentions"])
    after = before | set(ids) if is_mentioned else before - set(ids)
    store.state["unread_msgs"]["mentions"] = sorted(after)


def _conversation(store: Store, others: Iterable[int]) -> Place:
    """Return the conversation with these users. With no others, it is the user's own."""
    ids = sorted({*others} - {store.me})
    if len(ids) > 1:
        return "huddles", ",".join(map(str, sorted([*ids, store.me])))
    return "pms", ids[0] if ids else store.me


# --- events ---------------------------------------------------------------------------------------


@applies("message")
def message(store: Store, event: Event) -> None:
    sent, flags = event["message"], event["flags"]
    state = store.state
    state["max_message_id"] = max(state["max_message_id"], sent["id"])
    if sent["type"] == "stream":
        place: Place = ("streams", (sent["stream_id"], sent["subject"]))
    else:
        others = {person["id"] for person in sent["display_recipient"]} - {store.me}
        place = _conversation(store, others)
        _recent(store, sorted(others), sent["id"])
    if "read" not in flags:
        _add(store, place, [sent["id"]])
        _note_mentions(store, sent["id"], flags)
    if "starred" in flags:
        state["starred_messages"].append(sent["id"])


def _note_mentions(store: Store, message_id: int, flags: list[str]) -> None:
    _mention(store, [message_id], any(flag in flags for flag in MENTIONS))


def _recent(store: Store, others: list[int], message_id: int) -> None:
    recent = store.state["recent_private_conversations"]
    recent[:] = [each for each in recent if each["user_ids"] != others]
    recent.insert(0, {"max_message_id": message_id, "user_ids": others})


@applies("update_message")
def update_message(store: Store, event: Event) -> None:
    if "propagate_mode" in event:
        _move(store, event)
    if "rendered_content" in event and event["message_id"] in unread_ids(store):
        _note_mentions(store, event["message_id"], event["flags"])


def _move(store: Store, event: Event) -> None:
    """Move the unread messages of the event to their new conversation."""
    moved = unread_ids(store).intersection(event["message_ids"])
    if not moved:
        return
    mentions = moved.intersection(store.state["unread_msgs"]["mentions"])
    stream_id = event.get("new_stream_id", event["stream_id"])
    topic = event.get("subject", event["orig_subject"])
    _remove(store, moved)
    _add(store, ("streams", (stream_id, topic)), moved)
    _mention(store, mentions, True)


@applies("delete_message")
def delete_message(store: Store, event: Event) -> None:
    ids = event["message_ids"] if "message_ids" in event else [event["message_id"]]
    store.deleted.update(ids)
    _remove(store, ids)
    starred = store.state["starred_messages"]
    store.state["starred_messages"] = [each for each in starred if each not in ids]


@applies("update_message_flags")
def update_message_flags(store: Store, event: Event) -> None:
    state, ids = store.state, event["messages"]
    match event["flag"], event["op"]:
        case "read", "add":
            _remove(store, ids)
        case "read", "remove":
            for message_id in ids:
                _unread_again(store, message_id, event["message_details"][str(message_id)])
        case "starred", "add":
            state["starred_messages"] = sorted({*state["starred_messages"], *ids})
        case "starred", "remove":
            state["starred_messages"] = [
                each for each in state["starred_messages"] if each not in ids
            ]


def _unread_again(store: Store, message_id: int, details: dict[str, Any]) -> None:
    if details["type"] == "stream":
        place: Place = ("streams", (details["stream_id"], details["topic"]))
    else:
        place = _conversation(store, details["user_ids"])
    _add(store, place, [message_id])
    _mention(store, [message_id], details.get("mentioned", False))
