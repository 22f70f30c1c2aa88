"""How clients apply events of channels, subscriptions and folders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.contract.continuity.store import Event, Store, applies

LISTS = ("streams", "subscriptions", "unsubscribed", "never_subscribed")
TIES = LISTS[1:]
OWN_SETTINGS = (
    "color",
    "is_muted",
    "in_home_view",
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
)


TOLD_WITH = ("rendered_description", "history_public_to_subscribers", "is_web_public")
"""Properties sent together with the new value of another property."""


def shown(store: Store, stream_id: int) -> Iterator[dict[str, Any]]:
    """Yield the objects of the state that show a channel."""
    for key in LISTS:
        found = store.find(key, "stream_id", stream_id)
        if found is not None:
            yield found


@applies("stream")
def stream(store: Store, event: Event) -> None:
    if event["op"] == "create":
        for channel in event["streams"]:
            _forget(store, channel["stream_id"])
            store.state["streams"].append(channel)
            store.state["never_subscribed"].append({**channel, "subscribers": []})
    elif event["op"] == "delete":
        for stream_id in event["stream_ids"]:
            store.lost.add(stream_id)
            _forget(store, stream_id)
    else:
        for channel in shown(store, event["stream_id"]):
            channel[event["property"]] = event["value"]
            channel.update({name: event[name] for name in TOLD_WITH if name in event})


def _forget(store: Store, stream_id: int) -> None:
    for key in LISTS:
        store.take(key, "stream_id", stream_id)


@applies("subscription")
def subscription(store: Store, event: Event) -> None:
    match event["op"]:
        case "add":
            for channel in event["subscriptions"]:
                _subscribed(store, channel)
        case "remove":
            for channel in event["subscriptions"]:
                _left(store, channel["stream_id"])
        case "update":
            found = store.find("subscriptions", "stream_id", event["stream_id"])
            assert found is not None, event
            found[event["property"]] = event["value"]
        case "peer_add":
            for stream_id in event["stream_ids"]:
                _peers(store, stream_id, added=set(event["user_ids"]))
        case "peer_remove":
            for stream_id in event["stream_ids"]:
                _peers(store, stream_id, removed=set(event["user_ids"]))


def _subscribed(store: Store, channel: dict[str, Any]) -> None:
    stream_id = channel["stream_id"]
    for key in TIES:
        store.take(key, "stream_id", stream_id)
    store.state["subscriptions"].append(dict(channel))
    known = store.find("streams", "stream_id", stream_id)
    assert known is not None, "the channel must be known"
    known.update({name: channel[name] for name in known})


def _left(store: Store, stream_id: int) -> None:
    found = store.take("subscriptions", "stream_id", stream_id)
    assert found is not None, stream_id
    store.state["unsubscribed"].append(found)
    _peers(store, stream_id, removed={store.me})


def _peers(
    store: Store,
    stream_id: int,
    *,
    added: set[int] = frozenset(),  # type: ignore[assignment]
    removed: set[int] = frozenset(),  # type: ignore[assignment]
) -> None:
    """Update `subscriber_count`, which clients count from the events about other users."""
    for channel in shown(store, stream_id):
        channel["subscriber_count"] += len(added) - len(removed)
        if "subscribers" in channel:
            channel["subscribers"] = sorted({*channel["subscribers"], *added} - removed)


@applies("default_streams")
def default_streams(store: Store, event: Event) -> None:
    store.state["realm_default_streams"] = event["default_streams"]


@applies("channel_folder")
def channel_folder(store: Store, event: Event) -> None:
    folders = store.state["channel_folders"]
    match event["op"]:
        case "add":
            folders.append(event["channel_folder"])
        case "update":
            found = store.find("channel_folders", "id", event["channel_folder_id"])
            assert found is not None, event
            found.update(event["data"])
        case "reorder":
            place = {folder_id: at for at, folder_id in enumerate(event["order"])}
            folders.sort(key=lambda folder: place[folder["id"]])
            for folder in folders:
                folder["order"] = place[folder["id"]]
