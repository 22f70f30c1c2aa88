"""Consistent copies of SQLite databases that other processes write at the same time."""

from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect

PAGES = 4096
"""Number of pages in one step (16 MiB). A command can be interrupted between two steps."""
LOCK_TIMEOUT_S = 30.0


class CopyDamaged(Exception):
    """The copy is damaged, so the source is too. The message is SQLite's."""


def copy_database(source: Path, target: Path) -> None:
    """Copy a database at one moment, by SQLite's online backup, and check the copy.

    During the copy a transaction of the source is open, so writers do not wait, do not change the
    copied pages and do not restart the copy. `target` must be a new file. Raise `sqlite3.Error`, or
    `CopyDamaged` if the copy fails `PRAGMA quick_check`.
    """
    with (
        closing(_opened(source, "rw")) as reading,
        closing(_opened(target, "rwc")) as writing,
    ):
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            writing.execute(f"PRAGMA {pragma}")
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reading.backup(writing, pages=PAGES)
    # Immutable, because a write-ahead log would be created next to the copy otherwise.
    with closing(_opened(target, "ro&immutable=1")) as copy:
        (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise CopyDamaged(found)


def _opened(file: Path, mode: str) -> Connection:
    return connect(
        f"{file.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=LOCK_TIMEOUT_S,
        isolation_level=None,
    )
