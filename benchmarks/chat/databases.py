"""The databases that are measured: of one founded realm, one for each number of messages."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from shutil import copy
from typing import Protocol

import orjson

from benchmarks.chat.realm import Stage, fill, found
from benchmarks.load.processes import free_port
from benchmarks.payment.postgres import connect, create_database, running_postgres
from models.migrate import upgrade


class Databases(Protocol):
    """Where databases of names are made; a name is letters, digits and underscores."""

    def url(self, name: str) -> str: ...
    def exists(self, name: str) -> bool: ...
    def create(self, name: str) -> None: ...
    def copy(self, name: str, new: str) -> None: ...
    def rename(self, name: str, new: str) -> None: ...


class SqliteFiles:
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.db"

    def url(self, name: str) -> str:
        return f"sqlite:///{self._file(name)}"

    def exists(self, name: str) -> bool:
        return self._file(name).exists()

    def create(self, name: str) -> None:
        self._file(name).unlink(missing_ok=True)

    def copy(self, name: str, new: str) -> None:
        copy(self._file(name), self._file(new))

    def rename(self, name: str, new: str) -> None:
        self._file(name).rename(self._file(new))


class PostgresDatabases:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def _run(self, statement: str) -> None:
        with connect(self._prefix) as connection:
            connection.execute(statement.encode())

    def url(self, name: str) -> str:
        return self._prefix + name

    def exists(self, name: str) -> bool:
        with connect(self._prefix) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
            return found.fetchone() is not None

    def create(self, name: str) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{name}"')
        create_database(self._prefix, name)

    def copy(self, name: str, new: str) -> None:
        self._run(f'DROP DATABASE IF EXISTS "{new}"')
        self._run(f'CREATE DATABASE "{new}" TEMPLATE "{name}"')

    def rename(self, name: str, new: str) -> None:
        self._run(f'ALTER DATABASE "{name}" RENAME TO "{new}"')
        self._run("CHECKPOINT")  # a server that stops has five seconds


@contextmanager
def databases(kind: str, directory: Path, *, stays: bool) -> Iterator[Databases]:
    """`directory` holds SQLite's files; PostgreSQL's too where they stay there."""
    if kind == "sqlite":
        yield SqliteFiles(directory)
        return
    keep = directory / "postgresql" if stays else None
    with running_postgres(port=free_port(), core=1, keep=keep) as prefix:
        yield PostgresDatabases(prefix)


def founded(where: Databases, remembered: Path) -> Stage:
    """The realm in the database `base`, found again by what `remembered` says of it."""
    if remembered.exists():
        upgrade(where.url("base"), "chat")
        facts = orjson.loads(remembered.read_bytes())
        return Stage(**{**facts, "crowd": tuple(facts["crowd"])})
    where.create("base")
    upgrade(where.url("base"), "chat")
    stage = found(where.url("base"))
    remembered.write_bytes(orjson.dumps(asdict(stage)))
    return stage


def filled(where: Databases, stage: Stage, messages: int) -> str:
    """The URL of a copy of the realm with so many messages, made unless it is there."""
    name = f"m{messages}"
    if not where.exists(name):
        began = time.monotonic()
        where.copy("base", "unfinished")
        fill(where.url("unfinished"), stage, messages)
        where.rename("unfinished", name)
        seconds = time.monotonic() - began
        print(f"{messages:,} messages loaded in {seconds:.0f} s", file=sys.stderr)
    upgrade(where.url(name), "chat")  # one that stayed may be of an earlier release
    return where.url(name)
