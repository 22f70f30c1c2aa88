"""The protocol of file stores, and its errors."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

PIECE = 256 * 1024
"""The size in bytes of the pieces in which files are read."""


class FileMissing(FileNotFoundError):
    """The store has no file under this key."""


class StoreUnavailable(OSError):
    """The store does not answer or rejected the request."""


class FileStore(Protocol):
    """Files by key, in the form `{folder}/{name}`. It is safe for several threads and processes.

    The file of a key never changes. Every method raises `StoreUnavailable`.
    """

    def put(self, key: str, path: Path) -> None:
        """Store the file at `path` durably. The store may move it away from `path`."""
        ...

    def read(self, key: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """Return the pieces of `length` bytes from `start`, or of all bytes from there. Raise
        `FileMissing` immediately, not during the iteration.
        """
        ...

    def delete(self, key: str) -> None:
        """Delete the file if it exists."""
        ...

    def find_older(self, moment: datetime) -> Iterator[str]:
        """Yield the keys of the files that were stored before `moment`, in any order."""
        ...
