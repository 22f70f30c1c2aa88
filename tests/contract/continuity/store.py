"""A client's state: a snapshot, and what events make of it.

Written as a client is, from the document alone; nothing here imports the product. Each type of
event has one applier, in the module of its noun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Json = Any
Event = dict[str, Json]
EMPTY_NAME = "realm_empty_topic_display_name"


class Store:
    """The state of one client of one user. `capabilities` are those it declared."""

    def __init__(self, snapshot: dict[str, Json], capabilities: Iterable[str]) -> None:
        self.state = snapshot
        self.capabilities = frozenset(capabilities)
        self.me: int = snapshot["user_id"]
        self.deleted: set[int] = set()
        self.lost: set[int] = set()

    def apply(self, event: Event) -> None:
        """Raises `KeyError` for a type without an applier."""
        APPLIERS[event["type"]](self, event)

    def find(self, key: str, id_name: str, value: int) -> dict[str, Json] | None:
        """The object of a list of the state with that id."""
        return next((each for each in self.state[key] if each[id_name] == value), None)

    def take(self, key: str, id_name: str, value: int) -> dict[str, Json] | None:
        """The same, removed from the list."""
        found = self.find(key, id_name, value)
        if found is not None:
            self.state[key].remove(found)
        return found

    def topic_key(self, topic: str) -> str:
        """Topics are the same in any case; some clients get a name for the empty one."""
        return "" if topic == self.state[EMPTY_NAME] else topic.casefold()


Applier = Callable[[Store, Event], None]
APPLIERS: dict[str, Applier] = {}


def applies(*types: str) -> Callable[[Applier], Applier]:
    """Registers the applier of these types."""

    def register(applier: Applier) -> Applier:
        APPLIERS.update(dict.fromkeys(types, applier))
        return applier

    return register


@applies("typing", "typing_edit_message", "heartbeat", "realm_export", "realm_export_consent")
@applies("invites_changed")
def _nothing(store: Store, event: Event) -> None:
    """Says nothing about what a snapshot contains."""


@applies("presence")
def _presence(store: Store, event: Event) -> None:
    """Clients ask for presence now and then; the event only comes before."""


@applies("reaction", "submessage")
def _beside(store: Store, event: Event) -> None:
    """Changes a message, and snapshots contain no messages."""
