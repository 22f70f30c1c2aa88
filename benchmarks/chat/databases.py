"""The measured databases: one with the realm, and a copy for each number of messages."""

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
from benchmarks.load.checkout import HERE, Checkout
from benchmarks.load.processes import free_port
from benchmarks.payment.postgres import connect, create_database, running_postgres
from specd._db.migrate import upgrade

TITLES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
FURNISH = """
import json, sys
from dataclasses import asdict
from benchmarks.chat.realm import fill, found
from specd._db.migrate import upgrade
url, messages = sys.argv[1:]
upgrade(url, "chat")
stage = found(url)
fill(url, stage, int(messages))
print(json.dumps(asdict(stage)))
"""
"""Runs with the modules of another checkout, whose schema is older than ours."""


class Databases(Protocol):
    """Creates databases by name. A name is letters, digits and underscores."""

    kind: str

    def url(self, name: str) -> str: ...
    def exists(self, name: str) -> bool: ...
    def create(self, name: str) -> None: ...
    def copy(self, name: str, new: str) -> None: ...
    def rename(self, name: str, new: str) -> None: ...
    def rest(self, name: str) -> None:
        """Do the maintenance now that the database would otherwise do during a load."""


class SqliteFiles:
    kind = "sqlite"

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.db"

    def url(self, name: str) -> str:
        return f"sqlite:///{self._file(name)}"

    def exists(self, name: str) -> bool:
        return self._file(name).exists()

    def create(self, name: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._file(name)}{suffix}").unlink(missing_ok=True)

    def copy(self, name: str, new: str) -> None:
        self.create(new)
        copy(self._file(name), self._file(new))

    def rename(self, name: str, new: str) -> None:
        self._file(name).rename(self._file(new))

    def rest(self, name: str) -> None: ...


class PostgresDatabases:
    kind = "postgresql"

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
        self._run("CHECKPOINT")  # a stopping server has only five seconds

    def rest(self, name: str) -> None:
        with connect(self._prefix, name) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")


@contextmanager
def databases(kind: str, directory: Path, *, stays: bool) -> Iterator[Databases]:
    """`directory` has SQLite's files, and PostgreSQL's if they are kept."""
    if kind == "sqlite":
        yield SqliteFiles(directory)
        return
    keep = directory / "postgresql" if stays else None
    with running_postgres(port=free_port(), core=1, keep=keep) as prefix:
        yield PostgresDatabases(prefix)


def stage_of(told: str | bytes) -> Stage:
    """Return the stage from the JSON of its fields."""
    facts = orjson.loads(told)
    return Stage(**{**facts, "crowd": tuple(facts["crowd"])})


def founded(where: Databases, remembered: Path) -> Stage:
    """Return the realm in the database `base`, created or described by the file `remembered`."""
    if remembered.exists():
        upgrade(where.url("base"), "chat")
        return stage_of(remembered.read_bytes())
    where.create("base")
    upgrade(where.url("base"), "chat")
    stage = found(where.url("base"))
    remembered.write_bytes(orjson.dumps(asdict(stage)))
    return stage


def filled(where: Databases, stage: Stage, messages: int) -> str:
    """Return the URL of a copy of the realm with `messages` messages. Create it if necessary."""
    name = f"m{messages}"
    if not where.exists(name):
        began = time.monotonic()
        where.copy("base", "unfinished")
        fill(where.url("unfinished"), stage, messages)
        where.rename("unfinished", name)
        seconds = time.monotonic() - began
        print(f"{messages:,} messages loaded in {seconds:.0f} s", file=sys.stderr)
    upgrade(where.url(name), "chat")  # a kept database may be of an earlier release
    return where.url(name)


def filled_for(
    where: Databases, directory: Path, other: Checkout | None, messages: int
) -> tuple[Stage, dict[Checkout, str]]:
    """Return the realm with `messages` messages, and a URL for each checkout.

    The other checkout's code creates it if necessary, and our migrations upgrade a copy of it.
    `directory` has a file that describes its people.
    """
    if other is None:
        stage = founded(where, directory / f"{where.kind}.json")
        return stage, {HERE: filled(where, stage, messages)}
    before = "".join(it if it.isalnum() else "_" for it in f"{other.name} m{messages}")
    remembered = directory / f"{where.kind}_{before}.json"
    if not remembered.exists():
        began = time.monotonic()
        where.create(before)
        told = other.run(FURNISH, where.url(before), str(messages))
        where.rest(before)
        remembered.write_text(told)
        seconds = time.monotonic() - began
        print(f"{messages:,} messages loaded by {other.name} in {seconds:.0f} s", file=sys.stderr)
    began = time.monotonic()
    where.copy(before, "now")
    upgrade(where.url("now"), "chat")
    where.rest("now")
    print(f"copied and migrated in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return stage_of(remembered.read_text()), {other: where.url(before), HERE: where.url("now")}
