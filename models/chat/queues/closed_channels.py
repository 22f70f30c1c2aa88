"""Channels that are closed to a user by now, although events of the user's queue are about them."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from models.chat.access.channels import filter_known, find_channels, readable_channels, reading_as
from models.chat.identity.actors import Actor
from models.chat.queues.entries import Entry
from models.chat.tables import Channel
from models.dialects import id_in
from models.reader import Db

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Closed:
    """Ids of channels that a user cannot read, and of those that a user cannot even know of."""

    unreadable: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()


NOTHING_CLOSED = Closed()


def find_closed(db: Db, actor: Actor, entries: Sequence[Entry]) -> Closed:
    """Of the channels that the events are about, those that are closed to the actor."""
    return Closed(_unreadable(db, actor, entries), _unknown(db, actor, entries))


def _unreadable(db: Db, actor: Actor, entries: Sequence[Entry]) -> frozenset[int]:
    about = {entry.channel_id for entry in entries if entry.channel_id is not None}
    if not about:
        return frozenset()
    asked = readable_channels(actor.is_guest).where(id_in(Channel.id, about))
    return frozenset(about - set(db.execute(asked, reading_as(db, actor)).scalars()))


def _unknown(db: Db, actor: Actor, entries: Sequence[Entry]) -> frozenset[int]:
    described = {channel_id for entry in entries for channel_id in described_channels(entry)}
    if not described:
        return frozenset()
    found = find_channels(db, actor, channel_ids=described)
    return frozenset(described - {channel.id for channel in filter_known(db, actor, found)})


def described_channels(entry: Entry) -> list[int]:
    """Ids of the channels of which an event tells what only those may know who know the channels.

    An event that a channel is gone, or a subscription, says nothing but that.
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
    """The body of an event without these channels; empty if it describes no others."""
    for key in ("streams", "subscriptions"):
        if key in body:
            known = [item for item in body[key] if item["stream_id"] not in unknown]
            return {**body, key: known} if known else {}
    if "stream_ids" in body:
        ids = [channel_id for channel_id in body["stream_ids"] if channel_id not in unknown]
        return {**body, "stream_ids": ids} if ids else {}
    return {}
