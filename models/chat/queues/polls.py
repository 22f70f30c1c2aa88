"""The long polls of one process, and the events that end them.

Each event is read and decoded once and passed to the polls of its recipients. The positions of all
clients are stored together, once a second.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from models.chat.identity.actors import AccountState, find_account_states
from models.chat.queues.delivery import Viewer, is_wanted, render_events
from models.chat.queues.entries import MAX_BYTES, Entry, find_entries, find_entries_for, find_grown
from models.chat.queues.lazy import with_lists
from models.chat.queues.queues import Poll, write_down
from models.chat.queues.visibility import Body, find_closed
from models.log_tail import Logs, LogTail
from specd.db import Clock, Database, Db
from specd.errors import DatabaseUnavailable

WRITTEN_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events for a client, and the id up to which the log was read."""

    bodies: list[Body]
    seen: int


def catch_up(db: Db, viewer: Viewer, *, after: int, until: int, now: datetime) -> EventBatch:
    """Return the events for a viewer after one id and up to another.

    The result is limited to one response, so `seen` may be less than `until`.
    """
    if until <= after:
        return EventBatch([], after)
    options = viewer.queue.options
    entries, seen = find_entries_for(db, viewer.actor, options, after=after, until=until)
    closed = find_closed(db, viewer.actor, entries)
    bodies = render_events(viewer, entries, closed, after=after, now=now)
    return EventBatch(with_lists(db, viewer, bodies), seen)


@dataclass(eq=False, slots=True)
class Waiter:
    """A waiting poll. `woken` is done when the poll should respond or read again.

    `handed_at` is the time when the first of `entries` arrived.
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
        """End the poll: a new poll replaced it, its queue was deleted, or its user's permissions
        changed.
        """
        self.is_over = True
        self.wake()


class Polls:
    """The polls of one process. `write_down` may be called in any thread. Set `tail.database` and
    `clock` before the first poll.
    """

    clock: Clock

    def __init__(self) -> None:
        self.tail = LogTail(self._watched, self._read)
        self._lock = threading.Lock()
        self._cursors: dict[int, int] = {}
        self._handed: dict[int, int] = {}
        self._waiting: dict[int, dict[int, dict[str, Waiter]]] = defaultdict(dict)
        self._reaching: dict[int, set[int]] = defaultdict(set)
        self._polled: dict[str, Poll] = {}

    def join(self, viewer: Viewer, position: int) -> Waiter | None:
        """Return a poll for events after `position`, or None if there are some already. End the
        previous poll of the same queue.
        """
        realm_id, queue = viewer.queue.realm_id, viewer.queue
        self.tail.follow()
        if realm_id not in self._handed:
            with self._lock:
                self._handed[realm_id] = self._cursors[realm_id] = position
            self.tail.database.notifier.notify((realm_id,))  # events since `position` was read
        if self._handed[realm_id] > position:
            return None
        waiter = Waiter(viewer, position, asyncio.get_running_loop().create_future())
        with self._lock:
            queues = self._waiting[realm_id].setdefault(viewer.actor.id, {})
            before = queues.get(queue.id)
            queues[queue.id] = waiter
            if queue.options.all_public_streams:
                self._reaching[realm_id].add(viewer.actor.id)
        if before is not None:
            before.end()
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Remove a poll. It has received all of its events up to its `position`."""
        queue, user_id = waiter.viewer.queue, waiter.viewer.actor.id
        waiter.position = max(waiter.position, self._handed.get(queue.realm_id, 0))
        with self._lock:
            queues = self._waiting[queue.realm_id].get(user_id, {})
            if queues.get(queue.id) is waiter:
                del queues[queue.id]
                if not queues:
                    del self._waiting[queue.realm_id][user_id]
                    self._reaching[queue.realm_id].discard(user_id)

    def note(self, poll: Poll) -> None:
        """Schedule storing the position of a client and the end of its poll."""
        with self._lock:
            self._polled[poll.queue_id] = poll

    def write_down(self, database: Database, _: datetime) -> None:
        """Store the positions of clients. The application calls it regularly."""
        with self._lock:
            polled, self._polled = self._polled, {}
        polls = list(polled.values())
        try:
            for start in range(0, len(polls), WRITTEN_AT_ONCE):
                some = polls[start : start + WRITTEN_AT_ONCE]
                database.run(partial(write_down, polls=some))
        except Exception as error:
            with self._lock:  # newer positions are kept
                self._polled = polled | self._polled
            if isinstance(error, DatabaseUnavailable):
                return  # the outage is logged only once
            raise
        self.tail.call_soon(self.forget_idle)

    def forget_idle(self) -> None:
        """Stop following the realms without polls."""
        with self._lock:
            for realm_id in [r for r in self._handed if not self._waiting.get(r)]:
                del self._handed[realm_id]
                self._cursors.pop(realm_id, None)
                self._waiting.pop(realm_id, None)
                self._reaching.pop(realm_id, None)

    def _watched(self, logs: Logs) -> Mapping[int, int]:
        with self._lock:
            return {r: c for r, c in self._cursors.items() if logs is None or r in logs}

    def _read(self, db: Connection, watched: Mapping[int, int]) -> Iterator[Callable[[], None]]:
        for realm_id in find_grown(db, watched) if len(watched) > 1 else watched:
            after, is_cut = watched[realm_id], True
            while is_cut:
                entries, is_cut = find_entries(db, realm_id, after)
                if not entries:
                    break
                after = entries[-1].id
                with self._lock:
                    if realm_id not in self._cursors:
                        break  # no poll is waiting
                    self._cursors[realm_id] = after
                    concerned = self._concerned(realm_id, entries)
                yield partial(self._hand_out, realm_id, entries, find_account_states(db, concerned))

    def _hand_out(
        self, realm_id: int, entries: list[Entry], account_states: Mapping[int, AccountState]
    ) -> None:
        """Wake the polls of these events. End the polls of users whose permissions have changed."""
        if realm_id not in self._handed:
            return  # no poll is waiting
        self._handed[realm_id] = entries[-1].id
        now = self.clock.now()
        for user_id in self._concerned(realm_id, entries):
            for waiter in self._waiting[realm_id][user_id].values():
                self._hand(waiter, entries, account_states.get(user_id), now)

    def _concerned(self, realm_id: int, entries: Iterable[Entry]) -> list[int]:
        """Return the users with polls that the events may concern."""
        waiting = self._waiting.get(realm_id, {})
        user_ids = set(self._reaching.get(realm_id, ()))
        for entry in entries:
            if entry.user_ids is None:
                return list(waiting)
            user_ids |= entry.user_ids
        return [user_id for user_id in user_ids if user_id in waiting]

    def _hand(
        self, waiter: Waiter, entries: list[Entry], state: AccountState | None, now: datetime
    ) -> None:
        if sum(entry.size for entry in waiter.entries) >= MAX_BYTES:
            return  # the client reads the other events from the log
        wanted = [
            entry
            for entry in entries
            if entry.id > waiter.position and is_wanted(waiter.viewer, entry, now=now)
        ]
        if not wanted:
            return
        is_changed = state is not None and not state.is_of(waiter.viewer.actor)
        if is_changed or any("_queue_id" in entry.payload for entry in wanted):
            waiter.end()
            return
        waiter.entries.extend(wanted)
        waiter.handed_at = waiter.handed_at or now
        waiter.wake()
