"""Limits concurrent downloads, because each occupies a thread that other pages need, too."""

from __future__ import annotations

import threading
from collections import Counter


class Places:
    """The running downloads. `at_once` is their limit. `of_one` contains the limit for each
    organization, or the limits for each organization and for each user.
    """

    def __init__(self, *, at_once: int, of_one: tuple[int, ...]) -> None:
        self._at_once, self._of_one = at_once, of_one
        self._lock = threading.Lock()
        self._under_way = 0
        self._taken: Counter[tuple[int, int]] = Counter()

    def try_take(self, *owners: int) -> bool:
        """Reserve a download if no limit is reached, and return whether it is reserved. `owners`
        are the ids to which the limits in `of_one` apply.
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
