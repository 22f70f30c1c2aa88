"""The limit of concurrent downloads: each takes a thread that other pages need too."""

from __future__ import annotations

import threading
from collections import Counter


class Places:
    """The downloads under way: `at_once` in all, and so many of each organization, or of each
    organization and each user in it.
    """

    def __init__(self, *, at_once: int, of_one: tuple[int, ...]) -> None:
        self._at_once, self._of_one = at_once, of_one
        self._lock = threading.Lock()
        self._under_way = 0
        self._taken: Counter[tuple[int, int]] = Counter()

    def try_take(self, *owners: int) -> bool:
        """Take a place for these owners, one for each number of `of_one`. Return whether there is
        one.
        """
        kinds = list(enumerate(owners))
        with self._lock:
            is_free = self._under_way < self._at_once and all(
                self._taken[owner] < most for owner, most in zip(kinds, self._of_one, strict=True)
            )
            if is_free:
                self._under_way += 1
                self._taken.update(kinds)
            return is_free

    def give_back(self, *owners: int) -> None:
        with self._lock:
            self._under_way -= 1
            self._taken.subtract(enumerate(owners))
            self._taken += Counter()  # drops the zeros
