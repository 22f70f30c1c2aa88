"""Senders with slow transactions: each sends messages in transactions that stay open while others
draw later ids and commit earlier.

For PostgreSQL, which has many writers.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable

from sqlalchemy.orm import Session

from models.chat.identity.actors import find_actor
from models.chat.rendering.texts import prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.recipients import ToChannel
from specd.db import Clock, Database
from tests.support.chat.people import Member

CLOCK = Clock()
BEFORE_THE_END = 4
"""The number of senders that wait before they draw the ids of events; one waits afterwards, so that
it holds the lock of the log.
"""
LONGEST_S = 5.0


class HeldTransactions:
    """Threads that send `messages` messages each. `sent`: the ids of committed messages."""

    def __init__(self, url: str, who: Member, channel_id: int, messages: int, seed: int) -> None:
        self._database = Database(url, lock_timeout_s=60, pool_size=BEFORE_THE_END + 1)
        self._who, self._channel_id, self._messages = who, channel_id, messages
        self._failures: list[Exception] = []
        self._threads = [
            threading.Thread(target=self._send, args=(number, random.Random(seed + number)))
            for number in range(BEFORE_THE_END + 1)
        ]
        self.sent: set[int] = set()

    @staticmethod
    def count(messages: int) -> int:
        """Return the number of messages of all senders."""
        return messages * (BEFORE_THE_END + 1)

    def __enter__(self) -> HeldTransactions:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.join()
        self._database.dispose()
        if self._failures:
            raise self._failures[0]

    def _send(self, number: int, lots: random.Random) -> None:
        try:
            for turn in range(self._messages):
                self._send_one(number, turn, lots.uniform(0, LONGEST_S))
        except Exception as error:
            self._failures.append(error)

    def _send_one(self, number: int, turn: int, seconds: float) -> None:
        def work(session: Session) -> int:
            sender = find_actor(session, self._who.id)
            assert sender is not None
            draft = check_message(
                session,
                sender,
                ToChannel(self._channel_id),
                topic=f"held {number}",
                text=prepare_text(session, sender, f"held {number}/{turn}"),
            )
            sent = send_message(session, draft, now=CLOCK.now())
            if number < BEFORE_THE_END:
                time.sleep(seconds)
            else:
                Database.before_commit(session, _wait, [seconds])
            return sent.id

        self.sent.add(self._database.run(work))


def _wait(_session: Session, seconds: Iterable[float]) -> None:
    time.sleep(sum(seconds))
