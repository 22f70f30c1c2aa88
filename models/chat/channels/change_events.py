"""Who hears that a channel is not what it was."""

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
)
from models.chat.events.log import ABSENT, AddressedEvent, WireObject
from models.chat.identity.actors import Actor

PRIVACY = ("invite_only", "history_public_to_subscribers", "is_web_public")
"""Properties that are told together."""
_NOT_OF_A_CHANGE = ("is_recently_active", "rendered_description", "subscriber_count")
"""AddressedEvent with the description, or by what others do at the same time."""


def notify_of_change(
    session: Session,
    actor: Actor,
    old: ChannelView,
    new: ChannelView,
    described: WireObject,
    *,
    now: datetime,
) -> None:
    """To those who know the channel before and after: each property that clients now see
    otherwise. To those who may know it from now on: the channel, and who is in it. To those who no
    longer may: that it is gone. `described`: how clients saw it before.
    """
    subscribers = find_subscriber_ids(session, [new.id])[new.id]
    shown = describe_channels(session, actor.realm, [new], now=now)[new.id]
    audiences = Audiences(session, actor.realm, [old, new])
    before, after = audiences.of(old, subscribers), audiences.of(new, subscribers)
    told: list[AddressedEvent] = []
    if before is not None and before != after:
        gained = (audiences.everybody if after is None else after) - before
        # The peers are told of below.
        told.append((StreamCreateEvent(streams=[{**shown, "subscriber_count": 0}]), gained))
        if subscribers:
            peers = SubscriptionPeerAddEvent(stream_ids=[new.id], user_ids=subscribers)
            told.append((peers, gained))
    if after is not None and before != after:
        lost = (audiences.everybody if before is None else before) - after
        told.append((StreamDeleteEvent.of([new.id]), lost))
    if before is None or after is None:
        stay = after if before is None else before
    else:
        stay = before & after
    told += [(event, stay) for event in _updates(old, described, shown)]
    log.append_all(session, actor.realm_id, told, now=now)


def _updates(old: ChannelView, before: WireObject, after: WireObject) -> list[StreamUpdateEvent]:
    """An event for each property that has another value; under the name that clients know."""
    changed = [
        name for name in after if after[name] != before[name] and name not in _NOT_OF_A_CHANGE
    ]
    if any(name in PRIVACY for name in changed):
        changed = ["invite_only", *(name for name in changed if name not in PRIVACY)]
    # The name last: the others come under the name that clients know.
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
