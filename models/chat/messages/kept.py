"""Message objects kept between requests, each by the row that it was made of.

What is made of a row depends on the row and on how its reader sees it, so both are the key. The
database is asked for every row each time: an object that is found is never old, because a row that
differs in anything finds another one or none.
"""

import threading
from sys import getsizeof
from typing import Any

MOST_BYTES = 8 << 20
OBJECT_BYTES = 2_000
"""About what an object and its key take besides the texts of the message."""

Key = tuple[Any, ...]


class KeptMessages:
    """The objects used last, of all threads; those put in and asked for since half of `most_bytes`
    was reached, and as many before them.
    """

    __slots__ = ("_lock", "_most_bytes", "_newer", "_older", "_size")

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._newer: dict[Key, dict[str, Any]] = {}
        self._older: dict[Key, dict[str, Any]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> dict[str, Any] | None:
        """What was made of this key; nobody may change it."""
        message = self._newer.get(key)
        if message is None:
            message = self._older.get(key)
            if message is not None:
                self.put(key, message)
        return message

    def put(self, key: Key, message: dict[str, Any]) -> None:
        size = OBJECT_BYTES + sum(getsizeof(part) for part in key if isinstance(part, str))
        with self._lock:
            self._size += size
            if self._size > self._most_bytes // 2:
                self._older, self._newer, self._size = self._newer, {}, size
            self._newer[key] = message
