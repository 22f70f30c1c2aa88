"""Copies of SQLite databases during writes: each is consistent."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from models import sqlite_copy
from models.sqlite_copy import CopyDamaged, copy_database

ROWS = 500


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "source ?#.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for name in ("one", "two"):
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, text TEXT)")
            rows = ((f"{name} {number}" * 20,) for number in range(ROWS))
            connection.executemany(f"INSERT INTO {name} (text) VALUES (?)", rows)
    return file


def test_copy_during_writes_is_consistent(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process changes both tables between any two pages, and the copy contains none of the
    changes.
    """
    written: list[int] = []
    writer = sqlite3.connect(source)

    class Busy(sqlite3.Connection):
        def backup(self, target: sqlite3.Connection, **options: Any) -> None:
            super().backup(target, progress=write, **options)

    def write(*_: int) -> None:
        with writer:
            for name in ("one", "two"):
                writer.execute(f"INSERT INTO {name} (text) VALUES ('more')")
                writer.execute(f"UPDATE {name} SET text = text || '+' WHERE id % 50 = 0")
        written.append(len(written))

    monkeypatch.setattr(sqlite_copy, "PAGES", 1)
    connect = partial(sqlite3.connect, factory=Busy)
    monkeypatch.setattr(sqlite_copy, "connect", connect)
    for number in range(2):
        target = tmp_path / f"{number}.db"
        before = len(written)
        copy_database(source, target)
        assert len(written) > before + 10
        with closing(sqlite3.connect(f"{target.as_uri()}?immutable=1", uri=True)) as copy:
            for name in ("one", "two"):
                (found,) = copy.execute(
                    f"SELECT count(*) FROM {name} WHERE text LIKE 'more%'"
                ).fetchone()
                assert found == before
    writer.close()
    assert not list(tmp_path.glob("?.db-*")), "a copy is one file"


def test_damaged_database_is_rejected(source: Path, tmp_path: Path) -> None:
    copy_database(source, tmp_path / "sound.db")
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(source.read_bytes())
    content[4096 * 3 : 4096 * 3 + 512] = bytes(512)
    source.write_bytes(content)
    with pytest.raises((CopyDamaged, sqlite3.DatabaseError)):
        copy_database(source, tmp_path / "damaged.db")


def test_missing_database_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        copy_database(tmp_path / "missing.db", tmp_path / "copy.db")
    assert not (tmp_path / "missing.db").exists()
