"""Hide channels and users that the reader of a queue may not see in an event."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from models.chat.access.channels import filter_visible, find_channels, readable_channels, reading_as
from models.chat.access.people import id_if_visible
from models.chat.identity.actors import Actor
from models.chat.queues.entries import Entry
from models.chat.tables import Channel
from models.dialects import id_in
from models.json import Json
from specd.db import Db

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Closed:
    """Ids of channels that a user may not read, and of channels that the user may not see."""

    unreadable: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()


NOTHING_CLOSED = Closed()


def find_closed(db: Db, actor: Actor, entries: Sequence[Entry]) -> Closed:
    """Return the channels of the events that are closed to the actor."""
    return Closed(_unreadable(db, actor, entries), _unknown(db, actor, entries))


def _unreadable(db: Db, actor: Actor, entries: Sequence[Entry]) -> frozenset[int]:
    about = {entry.channel_id for entry in entries if entry.channel_id is not None}
    if not about:
        return frozenset()
    readable = readable_channels(actor.is_guest).where(id_in(Channel.id, about))
    return frozenset(about - set(db.execute(readable, reading_as(db, actor)).scalars()))


def _unknown(db: Db, actor: Actor, entries: Sequence[Entry]) -> frozenset[int]:
    described = {channel_id for entry in entries for channel_id in described_channels(entry)}
    if not described:
        return frozenset()
    channels = find_channels(db, actor, channel_ids=described)
    return frozenset(described - {channel.id for channel in filter_visible(db, actor, channels)})


def described_channels(entry: Entry) -> list[int]:
    """Return the ids of the channels that an event describes. An event about the end of a channel
    or of a subscription describes no channel.
    """
    match entry.type, entry.payload:
        case ("stream", {"op": "update", "stream_id": channel_id}):
            return [channel_id]
        case ("stream", {"op": "create", "streams": channels}):
            return [channel["stream_id"] for channel in channels]
        case ("subscription", {"op": "add", "subscriptions": channels}):
            return [channel["stream_id"] for channel in channels]
        case ("subscription", {"op": "peer_add" | "peer_remove", "stream_ids": ids}):
            return list(ids)
    return []


def without_channels(body: Body, unknown: Container[int]) -> Body:
    """Return the body of an event without these channels, or an empty body if no channel
    remains.
    """
    for key in ("streams", "subscriptions"):
        if key in body:
            known = [item for item in body[key] if item["stream_id"] not in unknown]
            return {**body, key: known} if known else {}
    if "stream_ids" in body:
        ids = [channel_id for channel_id in body["stream_ids"] if channel_id not in unknown]
        return {**body, "stream_ids": ids} if ids else {}
    return {}


NAMES_ONE = frozenset(("author_id", "bot_owner_id", "creator_id"))
NAMES_MANY = frozenset(("direct_members", "members", "subscribers", "user_ids"))
"""Keys that contain ids of users other than the subject of the event."""


def without_hidden_names(value: Json, visible_ids: Container[int]) -> Json:
    """Return the value without the users that its reader may not see."""
    if isinstance(value, list):
        return [without_hidden_names(item, visible_ids) for item in value]
    if not isinstance(value, dict):
        return value
    shown: dict[str, Json] = {}
    for key, item in value.items():
        if key in NAMES_ONE:
            shown[key] = id_if_visible(item, visible_ids)
        elif key in NAMES_MANY:
            shown[key] = [user_id for user_id in item if user_id in visible_ids]
        else:
            shown[key] = without_hidden_names(item, visible_ids)
    return shown
