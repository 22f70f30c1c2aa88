"""Events of changed channels and subscribers, for all users who may see them."""

from collections.abc import Collection, Iterable
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.audiences import Audiences
from models.chat.access.channels import ChannelView
from models.chat.channels.channels import describe_channels, find_subscriber_ids
from models.chat.events import log
from models.chat.events.channels import (
    StreamCreateEvent,
    StreamDeleteEvent,
    StreamUpdateEvent,
    SubscriptionPeerAddEvent,
    SubscriptionPeerRemoveEvent,
)
from models.chat.events.log import ABSENT, AddressedEvent, WireObject
from models.chat.identity.actors import Actor

PRIVACY = ("invite_only", "history_public_to_subscribers", "is_web_public")
"""Properties that are in one event together."""
_WITHOUT_EVENT = ("is_recently_active", "rendered_description", "subscriber_count")
"""Properties without an event: they come with the description, or change by the actions of other
users.
"""
Peers = tuple[int, Collection[int], Collection[int] | None]
"""A channel's id, the users who joined or left it, and the recipients, or None for all users."""


def gather_peers(
    kind: type[SubscriptionPeerAddEvent] | type[SubscriptionPeerRemoveEvent], each: Iterable[Peers]
) -> list[AddressedEvent]:
    """Return the events. Channels with the same users and the same recipients share an event."""
    channels_of: dict[tuple[frozenset[int], frozenset[int] | None], list[int]] = {}
    for channel_id, user_ids, recipients in each:
        key = (frozenset(user_ids), None if recipients is None else frozenset(recipients))
        channels_of.setdefault(key, []).append(channel_id)
    return [
        (kind(stream_ids=channel_ids, user_ids=sorted(user_ids)), recipients)
        for (user_ids, recipients), channel_ids in channels_of.items()
    ]


def notify_of_change(
    session: Session,
    actor: Actor,
    old: ChannelView,
    new: ChannelView,
    described: WireObject,
    *,
    now: datetime,
) -> None:
    """Append the events of a changed channel. `described` is the channel's old form in the API.

    Users who may see the channel before and after the change get each changed property. Users who
    may see it only now get the channel and its subscribers. Users who may no longer see it get its
    deletion.
    """
    subscribers = find_subscriber_ids(session, [new.id])[new.id]
    shown = describe_channels(session, actor.realm, [new], now=now)[new.id]
    audiences = Audiences(session, actor.realm, [old, new])
    before, after = audiences.of(old, subscribers), audiences.of(new, subscribers)
    events: list[AddressedEvent] = []
    if before is not None and before != after:
        gained = (audiences.everybody if after is None else after) - before
        # The event of the subscribers increases the count from 0.
        events.append((StreamCreateEvent(streams=[{**shown, "subscriber_count": 0}]), gained))
        if subscribers:
            peers = SubscriptionPeerAddEvent(stream_ids=[new.id], user_ids=subscribers)
            events.append((peers, gained))
    if after is not None and before != after:
        lost = (audiences.everybody if before is None else before) - after
        events.append((StreamDeleteEvent.of([new.id]), lost))
    if before is None or after is None:
        stay = after if before is None else before
    else:
        stay = before & after
    events += [(event, stay) for event in _updates(old, described, shown)]
    log.append_all(session, actor.realm_id, events, now=now)


def _updates(old: ChannelView, before: WireObject, after: WireObject) -> list[StreamUpdateEvent]:
    """Return an event for each changed property."""
    changed = [name for name in after if after[name] != before[name] and name not in _WITHOUT_EVENT]
    if any(name in PRIVACY for name in changed):
        changed = ["invite_only", *(name for name in changed if name not in PRIVACY)]
    # The name comes last, because the other events contain the channel's old name.
    changed.sort(key=lambda name: name == "name")
    return [
        StreamUpdateEvent(
            property=name,
            value=after[name],
            stream_id=old.id,
            name=old.name,
            rendered_description=(
                after["rendered_description"] if name == "description" else ABSENT
            ),
            history_public_to_subscribers=(
                after["history_public_to_subscribers"] if name == "invite_only" else ABSENT
            ),
            is_web_public=after["is_web_public"] if name == "invite_only" else ABSENT,
        )
        for name in changed
    ]
