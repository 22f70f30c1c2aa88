"""A client's state: a snapshot, and the events applied to it.

It is written like a client, from the document alone, and imports no product code. Each type of
event has an applier, in the module of its noun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Json = Any
Event = dict[str, Json]
EMPTY_NAME = "realm_empty_topic_display_name"


class Store:
    """The state of a client of a user. `capabilities` are those that the client declared."""

    def __init__(self, snapshot: dict[str, Json], capabilities: Iterable[str]) -> None:
        self.state = snapshot
        self.capabilities = frozenset(capabilities)
        self.me: int = snapshot["user_id"]
        self.deleted: set[int] = set()
        self.lost: set[int] = set()

    def apply(self, event: Event) -> None:
        """Apply an event. Raises `KeyError` for a type without an applier."""
        APPLIERS[event["type"]](self, event)

    def find(self, key: str, id_name: str, value: int) -> dict[str, Json] | None:
        """Return the object with that id from a list of the state."""
        return next((each for each in self.state[key] if each[id_name] == value), None)

    def take(self, key: str, id_name: str, value: int) -> dict[str, Json] | None:
        """Return the object with that id, and remove it from the list."""
        found = self.find(key, id_name, value)
        if found is not None:
            self.state[key].remove(found)
        return found

    def topic_key(self, topic: str) -> str:
        """Return the key of a topic. Topics are case-insensitive, and some clients get a name for
        the empty topic.
        """
        return "" if topic == self.state[EMPTY_NAME] else topic.casefold()


Applier = Callable[[Store, Event], None]
APPLIERS: dict[str, Applier] = {}


def applies(*types: str) -> Callable[[Applier], Applier]:
    """Register the applier of these types."""

    def register(applier: Applier) -> Applier:
        APPLIERS.update(dict.fromkeys(types, applier))
        return applier

    return register


@applies("typing", "typing_edit_message", "heartbeat", "realm_export", "realm_export_consent")
@applies("invites_changed")
def _nothing(store: Store, event: Event) -> None:
    """Do nothing, because snapshots contain nothing of this event."""


@applies("presence")
def _presence(store: Store, event: Event) -> None:
    """Do nothing, because clients poll for presence, and the event is only faster."""


@applies("reaction", "submessage")
def _message_only(store: Store, event: Event) -> None:
    """Do nothing, because the event changes a message, and snapshots contain no messages."""
