"""The long polls of one process: who waits, for which events, and who is woken by what.

Each event is read and decoded once and handed to the polls that it concerns. What a client has seen
is written down once a second for all clients together.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from models.chat.identity.account_states import AccountState, find_account_states
from models.chat.queues.closed_channels import find_closed
from models.chat.queues.delivery import Body, Viewer, is_wanted, render_events
from models.chat.queues.entries import (
    MOST_BYTES,
    Entry,
    find_entries,
    find_entries_for,
    find_grown,
)
from models.chat.queues.lazy import with_lists
from models.chat.queues.queues import Poll, write_down
from models.clock import Clock
from models.database import Database
from models.errors import DatabaseUnavailable
from models.log_tail import LogTail
from models.notifier import Logs, Notifier
from models.reader import Db

WRITTEN_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Found:
    """What a look into the log found for a client: events, and up to which one it has looked."""

    bodies: list[Body]
    seen: int


def catch_up(db: Db, viewer: Viewer, *, after: int, until: int, now: datetime) -> Found:
    """What the log has for a viewer after one event and up to another.

    It is at most so much as one answer tells; `seen` may therefore be less than `until`.
    """
    if until <= after:
        return Found([], after)
    options = viewer.queue.options
    entries, seen = find_entries_for(db, viewer.actor, options, after=after, until=until)
    closed = find_closed(db, viewer.actor, entries)
    told = render_events(viewer, entries, closed, after=after, now=now)
    return Found(with_lists(db, viewer, told), seen)


@dataclass(eq=False, slots=True)
class Waiter:
    """One poll that waits. `woken` is done as soon as there is a reason to answer or look again.

    `handed_at`: when the first of `entries` came.
    """

    viewer: Viewer
    position: int
    woken: asyncio.Future[None]
    entries: list[Entry] = field(default_factory=list)
    handed_at: datetime | None = None
    is_over: bool = False

    def wake(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)

    def end(self) -> None:
        """Have the poll answered as it is: another has taken its place, or its user's rights."""
        self.is_over = True
        self.wake()


class Polls(LogTail[Mapping[int, int]]):
    """The polls of one process. `write_down` may be called in any thread."""

    clock: Clock

    def __init__(self) -> None:
        super().__init__()
        self._cursors: dict[int, int] = {}
        self._handed: dict[int, int] = {}
        self._waiting: dict[int, dict[int, dict[str, Waiter]]] = defaultdict(dict)
        self._reaching: dict[int, set[int]] = defaultdict(set)
        self._polled: dict[str, Poll] = {}

    def join(self, viewer: Viewer, position: int) -> Waiter | None:
        """A poll that waits for what comes after `position`; None: some of it has come already.

        Ends another poll of the same queue.
        """
        realm_id, queue = viewer.queue.realm_id, viewer.queue
        self._follow()
        if realm_id not in self._handed:
            with self._guard:
                self._handed[realm_id] = self._cursors[realm_id] = position
            self._database().notifier.notify((realm_id,))  # what came since `position` was read
        if self._handed[realm_id] > position:
            return None
        waiter = Waiter(viewer, position, asyncio.get_running_loop().create_future())
        with self._guard:
            queues = self._waiting[realm_id].setdefault(viewer.actor.id, {})
            before = queues.get(queue.id)
            queues[queue.id] = waiter
            if queue.options.all_public_streams:
                self._reaching[realm_id].add(viewer.actor.id)
        if before is not None:
            before.end()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """The poll waits no more. All that concerns it up to its `position` was handed to it."""
        queue, user_id = waiter.viewer.queue, waiter.viewer.actor.id
        waiter.position = max(waiter.position, self._handed.get(queue.realm_id, 0))
        with self._guard:
            queues = self._waiting[queue.realm_id].get(user_id, {})
            if queues.get(queue.id) is waiter:
                del queues[queue.id]
                if not queues:
                    del self._waiting[queue.realm_id][user_id]
                    self._reaching[queue.realm_id].discard(user_id)

    def note(self, poll: Poll) -> None:
        """Have it written down soon what a client has seen, and how long it polls."""
        with self._guard:
            self._polled[poll.queue_id] = poll

    def write_down(self, database: Database, _: datetime) -> None:
        """Write down what was noted; a chore of the application."""
        with self._guard:
            polled, self._polled = self._polled, {}
        polls = list(polled.values())
        try:
            for start in range(0, len(polls), WRITTEN_AT_ONCE):
                some = polls[start : start + WRITTEN_AT_ONCE]
                database.run(partial(write_down, polls=some))
        except Exception as error:
            with self._guard:  # what is newer by now stays
                self._polled = polled | self._polled
            if isinstance(error, DatabaseUnavailable):
                return  # the log has one line for the outage
            raise
        self._call_soon(self._forget_quiet)

    def _forget_quiet(self) -> None:
        """Follow no realm any longer that nobody here waits for."""
        with self._guard:
            for realm_id in [r for r in self._handed if not self._waiting.get(r)]:
                del self._handed[realm_id]
                self._cursors.pop(realm_id, None)
                self._waiting.pop(realm_id, None)
                self._reaching.pop(realm_id, None)

    def _forget(self) -> None:
        self._handed, self._cursors = {}, {}

    def _watched(self, logs: Logs) -> Mapping[int, int]:
        return {r: c for r, c in self._cursors.items() if logs is None or r in logs}

    def _find(
        self, db: Connection, watched: Mapping[int, int], notifier: Notifier
    ) -> Iterator[Callable[[], None]]:
        for realm_id in find_grown(db, watched) if len(watched) > 1 else watched:
            after, is_cut = watched[realm_id], True
            while is_cut:
                entries, is_cut = find_entries(db, realm_id, after)
                if not entries:
                    break
                after = entries[-1].id
                with self._guard:
                    if self._notifier is not notifier or realm_id not in self._cursors:
                        break  # nobody waits any more, or another database is served
                    self._cursors[realm_id] = after
                    concerned = self._concerned(realm_id, entries)
                yield partial(self._hand_out, realm_id, entries, find_account_states(db, concerned))

    def _hand_out(
        self, realm_id: int, entries: list[Entry], account_states: Mapping[int, AccountState]
    ) -> None:
        """Wake the polls that these events concern. Whose rights have changed polls again."""
        if realm_id not in self._handed:
            return  # nobody waits any more
        self._handed[realm_id] = entries[-1].id
        now = self.clock.now()
        for user_id in self._concerned(realm_id, entries):
            for waiter in self._waiting[realm_id][user_id].values():
                self._hand(waiter, entries, account_states.get(user_id), now)

    def _concerned(self, realm_id: int, entries: Iterable[Entry]) -> list[int]:
        """Of the users who wait, those that the events may concern."""
        waiting = self._waiting.get(realm_id, {})
        told = set(self._reaching.get(realm_id, ()))
        for entry in entries:
            if entry.user_ids is None:
                return list(waiting)
            told |= entry.user_ids
        return [user_id for user_id in told if user_id in waiting]

    def _hand(
        self, waiter: Waiter, entries: list[Entry], standing: AccountState | None, now: datetime
    ) -> None:
        if sum(entry.size for entry in waiter.entries) >= MOST_BYTES:
            return  # its client finds the rest in the log
        wanted = [
            entry
            for entry in entries
            if entry.id > waiter.position and is_wanted(waiter.viewer, entry, now=now)
        ]
        if not wanted:
            return
        if standing is not None and not standing.is_of(waiter.viewer.actor):
            waiter.end()
            return
        waiter.entries.extend(wanted)
        waiter.handed_at = waiter.handed_at or now
        waiter.wake()
