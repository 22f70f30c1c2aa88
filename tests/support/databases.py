"""Databases that consecutive tests share.

An engine compiles each statement once and asks a server once for its properties, and a commit waits
for the disk. Tests that reuse an engine, with data in memory, are a third faster.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from sqlalchemy import MetaData, Select, func, make_url, select
from sqlalchemy.orm import Session

from specd._db import migrate
from specd._db.notifier import Notifier
from specd.db import Database

ROOM = 512 * 1024 * 1024


def place_migrated(path: Path, service: str) -> str:
    """Write a migrated, empty SQLite file of a service, as `specd migrate` does. Return its URL. A
    copy takes a hundredth of the time of the migrations.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_migrated(service))
    return f"sqlite:///{path}"


@cache
def _migrated(service: str) -> bytes:
    with directory_in_memory() as directory:
        path = directory / "migrated.db"
        migrate.upgrade(f"sqlite:///{path}", service)
        return path.read_bytes()


class Places:
    """Paths of SQLite files. Each is a copy of a template, and is reused after a test."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._free: list[Path] = []
        self._made = 0

    @contextmanager
    def one(self, template: Path | str) -> Iterator[str]:
        """Yield the URL of a copy that no other test uses meanwhile."""
        if not self._free:
            self._made += 1
            self._free.append(self._directory / f"{self._made}.db")
        path = self._free.pop()
        shutil.copy(template, path)
        yield f"sqlite:///{path}"
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            (self._directory / name).unlink(missing_ok=True)
        self._free.append(path)


class Lent:
    """`Database` objects by URL, reset after each use: nothing follows them. On PostgreSQL, where a
    connection costs a process, connections stay open.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, float], Database] = {}

    @contextmanager
    def one(self, url: str, patience_s: float) -> Iterator[Database]:
        """Yield the database at this URL, which no other test uses meanwhile."""
        database = self._kept.pop((url, patience_s), None)
        database = database or Database(url, lock_timeout_s=patience_s)
        yield database
        if database.dialect == "sqlite":
            database.dispose()
        database.notifier.close()
        database.notifier = Notifier(make_url(url))
        self._kept[url, patience_s] = database

    def dispose(self) -> None:
        for database in self._kept.values():
            database.dispose()


def count_rows(reader: Session, metadata: MetaData) -> dict[str, int]:
    """Return the number of rows of each table, with one statement."""
    return dict(reader.execute(_counts(metadata)).mappings().one())


@cache
def _counts(metadata: MetaData) -> Select[tuple[int, ...]]:
    return select(
        *(
            select(func.count()).select_from(table).scalar_subquery().label(name)
            for name, table in metadata.tables.items()
        )
    )


@contextmanager
def directory_in_memory() -> Iterator[Path]:
    """Yield a directory in memory, or an ordinary one if there is too little memory."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free >= ROOM
    with tempfile.TemporaryDirectory(dir=memory if has_room else None) as directory:
        yield Path(directory)
