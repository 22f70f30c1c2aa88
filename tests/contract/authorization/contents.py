"""The contents of an SQLite file, and the statements sent during a block."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine


def without_made_up(value: Any) -> Any:
    """Return a value in which random ids, handles and keys are replaced by a fixed word."""
    return MADE_UP.sub("made up", value) if isinstance(value, str) else value


@cache
def _is_steady(column: str) -> bool:
    return not any(word in column for word in RANDOM)


def rows(file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return all contents of an SQLite file, except random values."""
    connection = sqlite3.connect(file)
    names = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    found = {}
    for name in names:
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
        steady = [f'"{c}"' for c in columns if _is_steady(c)]
        found[name] = sorted(
            (
                tuple(without_made_up(value) for value in row)
                for row in connection.execute(f'SELECT {", ".join(steady)} FROM "{name}"')
            ),
            key=repr,
        )
    connection.close()
    return found


MADE_UP = re.compile(
    r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # the id of an event queue
    r"|[0-9a-f]{32})\b"  # the handle of a file or an emoji's picture, the key of a mail
)
RANDOM = ("nonce", "sha256", "color", "password_hash", "token", "segid", "block", "payload", "body",
          "request_id")  # fmt: skip


@contextmanager
def counting() -> Iterator[list[str]]:
    """Yield a list to which each statement is added until the end of the block."""
    seen: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
