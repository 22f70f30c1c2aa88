"""Consistent copies of SQLite databases that other processes write meanwhile."""

from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect

PAGES = 4096
"""Pages of one step, 16 MiB; between two steps a command can be interrupted."""
LOCK_TIMEOUT_S = 30.0


class CopyDamaged(Exception):
    """The copy is not a sound database, so the source is not either; the message is SQLite's."""


def copy_database(source: Path, target: Path) -> None:
    """Copy a database as it is at one moment, by SQLite's online backup, and check the copy.

    A transaction of the source is open meanwhile, so writers do not wait, do not change what is
    copied and do not make the copy begin again. `target` is a new file. Raise `sqlite3.Error`, or
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
    # As it is: without a write-ahead log, which would be made beside it.
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
