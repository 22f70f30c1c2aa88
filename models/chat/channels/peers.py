"""Events about who else joined or left channels."""

from collections.abc import Collection, Iterable

from models.chat.events.channels import SubscriptionPeerAddEvent, SubscriptionPeerRemoveEvent
from models.chat.events.log import AddressedEvent

Peers = tuple[int, Collection[int], Collection[int] | None]
"""A channel's id, who joined or left it, and the others who are told (None: everybody)."""


def gather_peers(
    kind: type[SubscriptionPeerAddEvent] | type[SubscriptionPeerRemoveEvent], each: Iterable[Peers]
) -> list[AddressedEvent]:
    """Return the events. Channels that are alike in who moves and who is told share one."""
    alike: dict[tuple[frozenset[int], frozenset[int] | None], list[int]] = {}
    for channel_id, moved, others in each:
        told = None if others is None else frozenset(others)
        alike.setdefault((frozenset(moved), told), []).append(channel_id)
    return [
        (kind(stream_ids=channel_ids, user_ids=sorted(moved)), others)
        for (moved, others), channel_ids in alike.items()
    ]
