"""SQLite's search index is merged in small steps: no message pays for a large merge, and segments
do not accumulate.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from models.chat.messages import search
from specd._db import migrate
from specd.db import Database

PAGE = 4096
BEFORE = 12_000
SENT = 700
MAX_PAGES = 150
"""Maximum number of log pages for one message. FTS5's automatic merge writes more than 400."""


def words(rough: Random) -> str:
    return " ".join(f"w{rough.randrange(30_000)}" for _ in range(12))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    return f"sqlite:///{tmp_path}/chat.db"


def pages_of_each(database: Database, log: Path, first: int, texts: list[str]) -> list[int]:
    """Return the number of log pages that each message writes, sent one by one.

    A checkpoint restarts the log before each message.
    """
    found = []
    with closing(sqlite3.connect(log.with_name("chat.db"), isolation_level=None)) as other:
        for number, content in enumerate(texts, first):
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            database.run(
                lambda session, number=number, content=content: search.index_messages(
                    session, [(number, "merges", content)]
                )
            )
            found.append(os.path.getsize(log) // PAGE)
    return found


def segments(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(
            connection.execute("SELECT count(DISTINCT segid) FROM message_search_idx").fetchone()[0]
        )


def test_cost_of_one_message_is_limited(url: str, tmp_path: Path) -> None:
    migrate.upgrade(url, "chat")
    rough = Random(6)
    with closing(Database(url)) as database:
        for start in range(1, BEFORE, 500):
            batch = [(start + n, "merges", words(rough)) for n in range(500)]
            database.run(lambda session, batch=batch: search.index_messages(session, batch))
        log = tmp_path / "chat.db-wal"
        pages = pages_of_each(database, log, BEFORE + 1, [words(rough) for _ in range(SENT)])
    assert max(pages) <= MAX_PAGES, sorted(pages)[-20:]
    assert segments(tmp_path / "chat.db") <= 24


def test_long_texts_merge_their_own_segments(url: str, tmp_path: Path) -> None:
    migrate.upgrade(url, "chat")
    rough = Random(7)
    texts = [" ".join(words(rough) for _ in range(100)) for _ in range(100)]
    with closing(Database(url)) as database:
        pages_of_each(database, tmp_path / "chat.db-wal", 1, texts)
    assert segments(tmp_path / "chat.db") <= 24
