"""Events contain no more than GET responses: a reader can look up every object that an event names.

With random calls of all operations. Owners, administrators, members, guests and bots read the
events of each call, one of them with a poll that waited, and request every user, channel and
message in them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

import specs
from handlers.chat import events as operations
from specd.db import Database
from tests.contract.continuity.history import FOLLOWERS, Follower, History
from tests.contract.continuity.operations.table import OPERATIONS
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.documents import resolved
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all

DOCUMENT = specs.load("chat")
WANTED = os.environ.get("SPECD_TELLING_LENGTH")
LENGTHS = [int(WANTED)] if WANTED else [90, in_all(120)]
"""Minimum number of calls in a history. Operations are called equally often, so the daily run calls
each once, and `--all` also twice."""
FIRST = int(os.environ.get("SPECD_HISTORY_FIRST", "1"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("SPECD_HISTORIES", "1")))

NAMED = {
    "user": (
        "*user_id",
        "*creator_id",
        "*owner_id",
        "*author_id",
        "*sender_id",
        "*/user/id",
        "*/direct_members/#",
        "*/user_ids/#",
        "*/members/#",
        "*/subscribers/#",
        "/message/display_recipient/#/id",
        "/muted_users/#/id",
    ),
    "channel": ("*stream_id", "*channel_id", "*/stream_ids/#", "/default_streams/#"),
    "message": (
        "*message_id",
        "*/message_ids/#",
        "/messages/#",
        "/message/id",
        "/attachment/messages/#/id",
    ),
    "nothing": (
        "*/direct_subgroups/#",
        "*direct_subgroup_ids/#",
        "*group_id",
        "/group/id",
        "*_group",
        "*_groups",
        "*first_message_id",  # GET returns it with the channel
        "*seconds",
        "*days",
        "*timestamp",
        "*date_*",
        "*_time",
        "*last_updated",
        "*_version",
        "*_type",
        "*/order",
        "/order/#",
        "*_count",
        "*traffic",
        "*size",
        "*_used",
        "/value",
        "/id",
        "*/fields/#/*",
        "*custom_profile_field/id",
        "*device_id",
        "*push_key_id",
        "*folder_id",
        "/channel_folder/id",
        "*/interface",
        "*linkifiers/#/id",
        "*playgrounds/#/id",
        "*/recipient_id",
        "*submessage*/id",
        "*submessage_id",
        "/exports/#/id",
        "/attachment/id",
        # Sent only to its reader, who created it.
        "*draft*",
        "*reminder*",
        "*snippet*",
        "/scheduled_message*",
        "/muted_topics/#/#",
    ),
}
"""Kind -> the leaves of events that name an object of it. The longest matching pattern applies."""
KEYS = {"/presences": "user", "/message_details": "message"}
"""Objects whose keys are ids -> the kind of the ids."""

EXEMPT = {
    ("delete_message", "message"): "it is gone",
    ("stream/delete", "channel"): "the reader has lost it",
    ("subscription/remove", "channel"): "the reader may have lost it",
    ("realm_user/remove", "user"): "the reader may no longer know them",
    ("realm_bot/delete", "user"): "it is gone",
    ("realm/update_dict", "channel"): "the snapshot names the channels of announcements to all",
}
"""Objects in events that their reader cannot look up -> the reason."""

PATHS = {"user": "/users/{}", "channel": "/streams/{}", "message": "/messages/{}"}


def kind_of(leaf: str) -> str:
    fitting = [
        (len(pattern), kind)
        for kind, patterns in NAMED.items()
        for pattern in patterns
        if fnmatchcase(leaf, pattern)
    ]
    return max(fitting)[1] if fitting else "unknown"


def leaves_of(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of the numbers that an event can contain."""
    schema = resolved(DOCUMENT, schema)
    for branch in ("oneOf", "anyOf", "allOf"):
        for part in schema.get(branch, ()):
            yield from leaves_of(part, path)
    if schema.get("type") == "array":
        yield from leaves_of(schema["items"], f"{path}/#")
    elif schema.get("type") == "object":
        for name, part in schema.get("properties", {}).items():
            yield from leaves_of(part, f"{path}/{name}")
        if isinstance(more := schema.get("additionalProperties"), Mapping):
            yield from leaves_of(more, f"{path}/*")
    elif schema.get("type") == "integer" and "enum" not in schema:
        yield path


def named_in(value: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield (kind, id) of all objects that an event names."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name.isdigit():
                yield KEYS.get(path, "nothing"), int(name)
                name = "*"
            yield from named_in(part, f"{path}/{name}")
    elif isinstance(value, list):
        for part in value:
            yield from named_in(part, f"{path}/#")
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
        yield kind_of(path), value


def test_every_number_of_an_event_is_classified() -> None:
    leaves = set(leaves_of(DOCUMENT["components"]["schemas"]["Event"]))
    assert leaves, "the document has no events"
    assert not sorted(leaf for leaf in leaves if kind_of(leaf) == "unknown")
    unused = [
        pattern
        for patterns in NAMED.values()
        for pattern in patterns
        if not pattern.endswith("/*") and not any(fnmatchcase(leaf, pattern) for leaf in leaves)
    ]
    assert not unused


class Readers:
    """Looks up the objects in events. `asked` counts them by kind of event, and `found` contains
    the hidden ones.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self.asked: Counter[str] = Counter()
        self.found: list[str] = []

    def check(self, follower: Follower, events: list[dict[str, Any]]) -> None:
        client = self._history.client.acting_as(self._history.world.members[follower.name])
        for event in events:
            follower.seen = max(follower.seen, event["id"])
            about = "/".join(filter(None, (event["type"], event.get("op"))))
            for kind, number in sorted(set(named_in(event))):
                if kind not in PATHS or {(about, kind), (event["type"], kind)} & EXEMPT.keys():
                    continue
                if (kind, number) == ("user", self._history.world.cast.notification_bot_id):
                    continue  # the snapshot names it for all users, in `cross_realm_bots`
                self.asked[about] += 1
                answer = client.get(PATHS[kind].format(number))
                if answer["result"] != "success":
                    last = self._history.said[-1]
                    self.found.append(f"{follower} was sent {kind} {number} by {about}: {last}")
                elif (about, kind, follower.style) == ("message", "message", "flutter"):
                    shown = answer["message"]["content"]
                    assert event["message"]["content"] == shown


@pytest.mark.parametrize("chat_filled", ["sqlite", in_all("postgresql")], indirect=True)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("seed", SEEDS)
def test_objects_in_events_can_be_looked_up(
    as_nobody: ChatClient,
    chat_database: Database,
    cast: Cast,
    clock: FrozenClock,
    seed: int,
    length: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(operations, "HEARTBEAT_S", (0.05, 0.05))
    history = History(as_nobody, chat_database, cast, clock, seed)
    history.begin()
    history.follow()
    readers = Readers(history)
    for name in sorted(OPERATIONS, key=lambda _: history.world.rng.random()) * (
        1 + length // len(OPERATIONS)
    ):
        waiting = history.world.pick(*FOLLOWERS)
        follower = next(each for each in history.followers if each.name == waiting)
        member = history.world.members[waiting]
        query = {**follower.query(), "dont_block": False}
        poll = history.client.acting_as(member).build("GET", "/events", query)
        waited = history.act_while(poll, name)
        if waited is not None and waited.json()["result"] == "success":
            readers.check(follower, waited.json()["events"])
        for each in list(history.followers):
            while events := history.poll(each):
                readers.check(each, events)
        history.world_goes_on()
    assert not readers.found, "\n".join(readers.found)
    assert len(readers.asked) > 20, readers.asked
