"""Chat databases with additional content, filled once in a process and copied."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.file_store.directory import DirectoryStore
from specd.db import Database
from tests.support.chat.app import ChatApp
from tests.support.chat.importing import store_of
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock


@dataclass(frozen=True, slots=True)
class Stage:
    """The context of a preparation: the application and a database with the people."""

    app: ChatApp
    database: Database
    cast: Cast
    clock: FrozenClock
    folder: Path


@dataclass(frozen=True, slots=True)
class Preparation:
    """Content that is created once. `fill` returns values for tests, such as ids."""

    name: str
    fill: Callable[[Stage], Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A filled template. `copies` yields the URL of a copy that no other test uses."""

    copies: Callable[[], AbstractContextManager[str]]
    cast: Cast
    value: Any
    files: dict[Path, bytes]

    @contextmanager
    def one(self) -> Iterator[str]:
        """Yield the URL of a copy, and write its uploaded files to the application's store."""
        for path, content in self.files.items():
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        with self.copies() as url:
            yield url


PreparedBy = dict[tuple[str, str, datetime], Prepared]
"""Templates by the name of the preparation, the kind of database, and the time of the clock."""


def store_folder(app: ChatApp) -> Path:
    store = store_of(app)
    assert isinstance(store, DirectoryStore)
    return store._folder


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def fill_at(
    url: str, preparation: Preparation, stage_of: Callable[[Database], Stage]
) -> tuple[Any, dict[Path, bytes]]:
    """Fill a database. Return the preparation's value and the files that it has uploaded."""
    database = Database(url)
    try:
        stage = stage_of(database)
        store = store_folder(stage.app)
        before = files_in(store)
        value = preparation.fill(stage)
        files = {path: path.read_bytes() for path in files_in(store) - before}
    finally:
        database.dispose()
    shutil.rmtree(stage.folder, ignore_errors=True)
    return value, files
