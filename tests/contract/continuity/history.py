"""A random history: clients register, calls are made, events are applied, states are compared."""

from __future__ import annotations

import importlib
from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any

import httpx

from specd.db import Database
from tests.contract.continuity.comparing import count_heard, differences
from tests.contract.continuity.operations.own import authorize_calls, mute_some
from tests.contract.continuity.operations.table import OPERATIONS
from tests.contract.continuity.store import APPLIERS, Store
from tests.contract.continuity.world import Call, Nothing, World, call
from tests.support.chat import flutter
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.chat.rows import change_user
from tests.support.frozen_clock import FrozenClock
from workers.backlog import message_removals
from workers.scheduled_delivery import ScheduledDelivery

for _room in ("tests.contract.continuity", "tests.contract.continuity.operations"):
    for _noun in ("channels", "messages", "organization", "own", "people"):
        importlib.import_module(f"{_room}.{_noun}")

FOLLOWERS = ("cordelia", "iago", "hamlet", "polonius", "reminder")
"""An owner, an administrator, a member, a guest and a bot, whose events are followed."""
OLDER = {
    "event_types": sorted(APPLIERS.keys() - {"user_topic"}),
    "fetch_event_types": "null",
    "include_subscribers": True,
}
"""The registration of a client without capabilities, which gets the older event of muted topics."""
STYLES = {"flutter": flutter.REGISTRATION, "older": OLDER}
TRIES = 30


class Follower:
    """A client that registered once and has applied its events since."""

    def __init__(self, name: str, style: str, snapshot: dict[str, Any]) -> None:
        self.name, self.style = name, style
        self.queue_id, self.seen = snapshot["queue_id"], snapshot["last_event_id"]
        capable = STYLES[style].get("client_capabilities", {})
        self.store = Store(snapshot, capable)

    def __str__(self) -> str:
        return f"{self.name}'s {self.style} client"

    def query(self) -> dict[str, Any]:
        return {"queue_id": self.queue_id, "last_event_id": self.seen, "dont_block": True}


class History:
    """A history of a seed. `said` is a log for the analysis of differences."""

    def __init__(
        self, client: ChatClient, database: Database, cast: Cast, clock: FrozenClock, seed: int
    ) -> None:
        self.client, self.clock = client, clock
        self.world = World(database, cast, clock, Random(seed))
        self.followers: list[Follower] = []
        self.said: list[str] = []
        self.succeeded: Counter[str] = Counter()
        self._delivery = ScheduledDelivery(database, clock, late_window=timedelta(days=1))
        self._removal = message_removals(database, clock, rest=lambda seconds: False)
        authorize_calls(self.world)
        mute_some(self.world)
        for member in (cast.cordelia, cast.iago):
            change_user(database, member.id, can_create_users=True)

    # --- calls ------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Create objects to act on."""
        for operation_id in ("subscribe", "create_profile_field", "create_channel_folder"):
            for _ in range(3):
                self.act(operation_id)
        if not self.succeeded["subscribe"]:
            self.insist("subscribe")
        for _ in range(8):
            self.act("send_message")
        self.enable_reports()

    def bring_back(self, name: str) -> None:
        """Activate the account of a user who may have left."""
        path = f"/users/{self.world.members[name].id}/reactivate"
        self._ask(call(self.world.members["cordelia"], "POST", path))

    def enable_reports(self) -> None:
        """Send reports to a channel that is not archived."""
        sql = "SELECT id FROM channel WHERE realm_id = :realm AND NOT is_archived ORDER BY id"
        reports = {"moderation_request_channel_id": self.world.row(sql).id}
        self._ask(call(self.world.members["cordelia"], "PATCH", "/realm", **reports))

    def act_at_random(self) -> None:
        """Make one call of any operation, then run all due work."""
        self.act(self.world.pick(*OPERATIONS))
        self.world_goes_on()

    def act(self, operation_id: str) -> bool:
        """Make a call. Return whether it succeeded."""
        made = self.make(operation_id)
        if made is None:
            return False
        return self._note(operation_id, made, self._ask(made))

    def act_while(self, waiting: httpx.Request, operation_id: str) -> httpx.Response | None:
        """Make a call while a request waits. Return the response of that request, or None if no
        call was made.
        """
        made = self.make(operation_id)
        if made is None:
            return None
        waited, answered = self.client.at_once(waiting, self._request(made))
        self._note(operation_id, made, answered)
        return waited

    def make(self, operation_id: str) -> Call | None:
        try:
            return OPERATIONS[operation_id](self.world)
        except Nothing:
            return None

    def insist(self, operation_id: str) -> bool:
        """Repeat a call until it succeeds. Return whether the operation exists."""
        return operation_id in OPERATIONS and any(self.act(operation_id) for _ in range(TRIES))

    def world_goes_on(self) -> None:
        self.clock.advance(seconds=1)
        while self._delivery.try_deliver_one():
            self.said.append("a scheduled message was due")
        while self._removal.try_some():
            self.said.append("a worker removed messages")

    def at_once(self, operation_ids: list[str]) -> None:
        """Make calls concurrently, while clients register."""
        made = [(each, made) for each in operation_ids if (made := self.make(each)) is not None]
        name = self.world.pick(*FOLLOWERS)
        style = self.world.pick(*STYLES)
        asked = [self._request(each) for _, each in made]
        asked.insert(len(asked) // 2, self._registration(name, style))
        answers = self.client.at_once(*asked)
        registered = answers.pop(len(made) // 2).json()
        if registered["result"] == "success":  # except if the key was renewed meanwhile
            self.followers.append(Follower(name, style, registered))
        for (operation_id, asked_for), answer in zip(made, answers, strict=True):
            self._note(operation_id, asked_for, answer)

    def _ask(self, made: Call) -> httpx.Response:
        return self.client.at_once(self._request(made))[0]

    def _request(self, made: Call) -> httpx.Request:
        return self.client.acting_as(made.by).build(made.method, made.path, made.form)

    def _note(self, operation_id: str, made: Call, response: httpx.Response) -> bool:
        answer = response.json()
        is_done = bool(answer["result"] == "success")
        outcome = "done" if is_done else answer["msg"]
        self.said.append(f"{made.by.name}: {operation_id} {made.path} {made.form}: {outcome}")
        if is_done:
            self.succeeded[operation_id] += 1
            if made.after is not None:
                made.after(answer)
        return is_done

    # --- clients ----------------------------------------------------------------------------------

    def follow(self) -> None:
        """Register both clients for all users."""
        for name in FOLLOWERS:
            for style in STYLES:
                self.followers.append(Follower(name, style, self._register(name, style)))

    def _registration(self, name: str, style: str) -> httpx.Request:
        member = self.world.members[name]
        return self.client.acting_as(member).build("POST", "/register", STYLES[style])

    def _register(self, name: str, style: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.at_once(self._registration(name, style))[0].json()
        assert answer["result"] == "success", answer
        return answer

    def catch_up(self) -> None:
        """Apply all new events in all clients."""
        for follower in list(self.followers):
            while events := self.poll(follower):
                for event in events:
                    follower.store.apply(event)
                    follower.seen = event["id"]

    def poll(self, follower: Follower) -> list[dict[str, Any]]:
        """Poll. If its queue has ended, the client registers again, like all clients."""
        client = self.client.acting_as(self.world.members[follower.name])
        answer = client.get("/events", **follower.query())
        if answer.get("code") == "BAD_EVENT_QUEUE_ID":
            self.said.append(f"the queue of {follower} ended")
            self.followers.remove(follower)
            renewed = Follower(
                follower.name, follower.style, self._register(follower.name, follower.style)
            )
            self.followers.append(renewed)
            return []
        assert answer["result"] == "success", answer
        return list(answer["events"])

    def _wildcards(self, name: str) -> set[int]:
        """Return messages that mention the user by wildcard (16, 32) and not by name (8, 64)."""
        sql = "SELECT message_id FROM user_message WHERE user_id = :user_id AND flags & 72 = 0"
        rows = self.world.rows(f"{sql} AND flags & 48 <> 0", user_id=self.world.members[name].id)
        return {row.message_id for row in rows}

    def _miscounted(self, store: Store, fresh: dict[str, Any]) -> list[str]:
        by_events, said = count_heard(store), fresh["unread_msgs"]["count"]
        return [] if by_events == said else [f"unread_msgs/count: {by_events}, said to be {said}"]

    def compare(self) -> list[str]:
        """Return the differences between each client and a new one of the same user."""
        found = []
        fresh = {
            (name, style): self._register(name, style) for name in FOLLOWERS for style in STYLES
        }
        for follower in self.followers:
            now = fresh[follower.name, follower.style]
            unlike = differences(
                follower.store,
                now,
                is_older=follower.style == "older",
                wildcards=self._wildcards(follower.name),
            )
            if not unlike and follower.style == "flutter":  # clients with policies for topics
                unlike = self._miscounted(follower.store, now)
            found += [f"{follower}: {each}" for each in unlike]
        return found
