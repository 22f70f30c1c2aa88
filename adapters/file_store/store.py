"""The protocol of a store of files, and its errors."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

PIECE = 256 * 1024
"""Bytes of a file that are in memory at once."""


class FileMissing(FileNotFoundError):
    """The store has no file under this key."""


class StoreUnavailable(OSError):
    """The store does not answer, or refuses."""


class FileStore(Protocol):
    """Files by key, which is `{folder}/{name}`; safe for several threads and processes.

    A file under a key never changes. Every method raises `StoreUnavailable`.
    """

    def put(self, key: str, path: Path) -> None:
        """Store the file at `path`, which may be gone then. On return it is durable."""
        ...

    def read(self, key: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """Yield `length` bytes of the file from `start`, or all, in pieces. Raise `FileMissing` at
        once.
        """
        ...

    def delete(self, key: str) -> None:
        """Remove the file, if it is there."""
        ...

    def find_older(self, moment: datetime) -> Iterator[str]:
        """Yield the keys of the files that were put before then, in any order."""
        ...
