"""How many downloads a process has at once: each holds a thread, and others need theirs."""

from __future__ import annotations

import threading
from collections import Counter


class Places:
    """The downloads under way: `at_once` in all, `of_one` owner's."""

    def __init__(self, *, at_once: int, of_one: int) -> None:
        self._at_once, self._of_one = at_once, of_one
        self._lock = threading.Lock()
        self._taken: Counter[int] = Counter()

    def try_take(self, owner_id: int) -> bool:
        with self._lock:
            is_free = self._taken.total() < self._at_once and self._taken[owner_id] < self._of_one
            self._taken[owner_id] += is_free
            return is_free

    def give_back(self, owner_id: int) -> None:
        with self._lock:
            self._taken[owner_id] -= 1
            if not self._taken[owner_id]:
                del self._taken[owner_id]
