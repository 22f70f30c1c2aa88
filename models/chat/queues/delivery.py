"""Select and format the events for a queue's client when they are delivered.

Users who may no longer read the channel of an event do not get the event. The options of the queue
(`QueueOptions`) decide the format. Payload keys that are only for the delivery are left out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from models.chat.access.people import dummy_email, email_by_fact, is_uploaded
from models.chat.events.organization import HeartbeatEvent
from models.chat.identity.actors import Actor
from models.chat.people.emoji import clients_kind
from models.chat.queues.entries import MAX_ENTRIES, Entry
from models.chat.queues.narrow import is_within
from models.chat.queues.queues import Queue
from models.chat.queues.retention import LASTS
from models.chat.queues.visibility import (
    Body,
    Closed,
    described_channels,
    without_channels,
    without_hidden_names,
)
from models.chat.tables.setting_table import EMOJISETS

_LEGACY_OF = {"muted_topics": "user_topic"}
"""Older event types, which a queue does not get together with the newer type."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user of a queue. `visible_ids` are the users that they may see, or None for all users."""

    actor: Actor
    queue: Queue
    visible_ids: frozenset[int] | None


def render_events(
    viewer: Viewer, entries: Iterable[Entry], closed: Closed, *, after: int, now: datetime
) -> list[Body]:
    """Return the next events for the viewer's client in order, at most `MAX_ENTRIES`.

    Each has the `id` of its entry. For a client without a capability, one entry may become several
    events, with ids that end with that of the entry. Events with ids up to `after` are left out.
    """
    bodies: list[Body] = []
    for entry in entries:
        if len(bodies) >= MAX_ENTRIES:
            break
        if entry.channel_id in closed.unreadable or not is_wanted(viewer, entry, now=now):
            continue
        body = {key: value for key, value in entry.payload.items() if key[0] != "_"}
        body = {"id": entry.id, "type": entry.type, **body}
        if not closed.unknown.isdisjoint(described_channels(entry)):
            body = without_channels(body, closed.unknown)
            if not body:
                continue
        if viewer.visible_ids is not None:
            body = without_hidden_names(body, viewer.visible_ids)
        form = FORMS.get(entry.type)
        if form is None:
            bodies.append(body)
        else:
            bodies.extend(made for made in form(viewer, entry, body) if made["id"] > after)
    return bodies[:MAX_ENTRIES]


def is_wanted(viewer: Viewer, entry: Entry, *, now: datetime) -> bool:
    """Return whether the event is for the user and matches the queue's options."""
    options = viewer.queue.options
    if not entry.is_for(
        viewer.actor.id, is_administrator=viewer.actor.is_administrator, options=options
    ):
        return False
    if entry.type == HeartbeatEvent.type:
        return entry.payload.get("_queue_id") in (None, viewer.queue.id)
    types = options.event_types
    if types is not None and entry.type not in types:
        return False
    newer = _LEGACY_OF.get(entry.type)
    if newer is not None and (types is None or newer in types):
        return False
    lasts = LASTS.get(entry.type)
    if lasts is not None and now - entry.at > lasts:
        return False
    return not (
        entry.type == "message"
        and options.narrow
        and not is_within(options.narrow, entry.payload["message"], entry.payload["flags"])
    )


# --- forms ------------------------------------------------------------------------------------


def _message(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    options, payload = viewer.queue.options, entry.payload
    message = dict(body["message"])
    if not options.apply_markdown and "_markdown" in payload:
        message["content"] = payload["_markdown"]
        message["content_type"] = "text/x-markdown"
    if (
        options.client_gravatar
        and not is_uploaded(message["avatar_url"])
        and message["sender_email"] != dummy_email(message["sender_id"], viewer.actor.realm.host)
    ):
        message["avatar_url"] = None
    if message["type"] == "stream":
        message["subject"] = shown_topic(viewer, message["subject"])
    body["message"] = message
    if viewer.actor.id not in (entry.user_ids or ()):
        body["flags"] = []
    local = payload.get("_local")
    if local is not None and local["queue_id"] == viewer.queue.id:
        body["local_message_id"] = local["local_id"]
    yield body


def _update_message(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    for key in ("subject", "orig_subject"):
        if key in body:
            body[key] = shown_topic(viewer, body[key])
    yield body


def _delete_message(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if "topic" in body:
        body["topic"] = shown_topic(viewer, body["topic"])
    body.pop("message_id", None)
    if "bulk_message_deletion" in viewer.queue.options.capabilities:
        yield body
        return
    message_ids = body.pop("message_ids")
    first_id = entry.id - len(message_ids) + 1
    for event_id, message_id in enumerate(message_ids, first_id):
        yield {**body, "id": event_id, "message_id": message_id}


def _default_streams(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if viewer.actor.is_guest:
        body["default_streams"] = []
    yield body


def _user_topic(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    body["topic_name"] = shown_topic(viewer, body["topic_name"])
    yield body


def _stream(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    capable = "archived_channels" in viewer.queue.options.capabilities
    if entry.payload.get("_for_unarchiving") and capable:
        return  # the client has the channel already
    if capable:
        yield body
    elif body["op"] == "create":
        if shown := _not_archived(body["streams"]):
            yield {**body, "streams": shown}
    elif body["op"] == "update" and body["property"] == "is_archived":
        if body["value"]:
            channel_id = body["stream_id"]
            body = {"id": entry.id, "type": "stream", "op": "delete"}
            body |= {"streams": [{"stream_id": channel_id}], "stream_ids": [channel_id]}
            yield body
    else:
        yield body


def _not_archived(channels: Iterable[Body]) -> list[Body]:
    return [channel for channel in channels if not channel["is_archived"]]


def _subscription(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    capable = "archived_channels" in viewer.queue.options.capabilities
    if entry.payload.get("_for_unarchiving") and capable:
        return
    if body["op"] == "add" and not capable:
        body["subscriptions"] = _not_archived(body["subscriptions"])
    if body.get("user_ids", True) and body.get("subscriptions", True):
        yield body


def _presence(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    presences = body.pop("presences")
    if not _is_visible(viewer, body["user_id"]):
        return
    if "simplified_presence_events" in viewer.queue.options.capabilities:
        yield {"id": entry.id, "type": entry.type, "presences": presences}
        return
    body = _with_email(viewer, entry, body)
    if viewer.queue.options.slim_presence:
        del body["email"]
    yield body


def _realm_user(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if _is_visible(viewer, body["person"]["user_id"]):
        yield body


def _about_user(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if _is_visible(viewer, body["user_id"]):
        yield body


def _typing(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if not _gets_typing(viewer, in_channel="stream_id" in body, user_id=body["sender"]["user_id"]):
        return
    body["sender"] = _with_email(viewer, entry, body["sender"])
    if "recipients" in body:
        body["recipients"] = [
            _with_email(viewer, entry, person)
            for person in body["recipients"]
            if _is_visible(viewer, person["user_id"])
        ]
    else:
        body["topic"] = shown_topic(viewer, body["topic"])
    yield body


def _typing_edit_message(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    place = body["recipient"]
    in_channel = place["type"] == "channel"
    if _gets_typing(viewer, in_channel=in_channel, user_id=body["sender_id"]):
        if in_channel:
            body["recipient"] = {**place, "topic": shown_topic(viewer, place["topic"])}
        yield body


def _gets_typing(viewer: Viewer, *, in_channel: bool, user_id: int) -> bool:
    capable = "stream_typing_notifications" in viewer.queue.options.capabilities
    return (capable or not in_channel) and _is_visible(viewer, user_id)


def _user_group(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if not body.get("user_ids", True):
        return
    capable = "include_deactivated_groups" in viewer.queue.options.capabilities
    if capable or not entry.payload.get("_is_hidden"):
        yield body
    elif "_group" in entry.payload:
        group = entry.payload["_group"]
        if viewer.visible_ids is not None:
            group = without_hidden_names(group, viewer.visible_ids)
        yield {"id": entry.id, "type": entry.type, "op": "add", "group": group}
    elif body["op"] == "update" and body["data"].get("deactivated"):
        yield {"id": entry.id, "type": entry.type, "op": "remove", "group_id": body["group_id"]}


def _user_settings(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if body["property"] == "emojiset":
        body["value"] = EMOJISETS.get(body["value"], body["value"])
    yield body


def _user_status(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if "reaction_type" in body:
        body["reaction_type"] = clients_kind(body["reaction_type"])
    return _about_user(viewer, entry, body)


def _realm_linkifiers(viewer: Viewer, entry: Entry, body: Body) -> Iterable[Body]:
    if "linkifier_url_template" in viewer.queue.options.capabilities:
        yield body


FORMS: Mapping[str, Callable[[Viewer, Entry, Body], Iterable[Body]]] = {
    "default_streams": _default_streams,
    "delete_message": _delete_message,
    "message": _message,
    "presence": _presence,
    "realm_linkifiers": _realm_linkifiers,
    "realm_user": _realm_user,
    "stream": _stream,
    "subscription": _subscription,
    "typing": _typing,
    "typing_edit_message": _typing_edit_message,
    "update_message": _update_message,
    "user_group": _user_group,
    "user_settings": _user_settings,
    "user_status": _user_status,
    "user_topic": _user_topic,
}


def shown_topic(viewer: Viewer, topic: str) -> str:
    """Return the form of a topic that the viewer's client can show."""
    if topic or "empty_topic_name" in viewer.queue.options.capabilities:
        return topic
    return viewer.actor.realm.empty_topic_display_name


def _with_email(viewer: Viewer, entry: Entry, person: Body) -> Body:
    """Return the person with the address that the viewer may see."""
    for fact in entry.payload["_emails"]:
        if fact[0] == person["user_id"]:
            return {**person, "email": email_by_fact(viewer.actor, fact)}
    return person


def _is_visible(viewer: Viewer, user_id: int) -> bool:
    return viewer.visible_ids is None or user_id in viewer.visible_ids
