"""The databases of a campaign: one of each kind that this machine has."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from specd._db import migrate
from tests.support.postgres import running_server

_MEMORY = Path("/dev/shm")
"""SQLite waits for the disk at each commit in other folders."""
KINDS = ("sqlite", "postgresql")


def databases(service: str, *, only: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name of each kind, and the URL of a migrated, empty database of the service."""
    for name, (url,) in several_databases(service, 1, only=only):
        yield name, url


def several_databases(
    service: str, count: int, *, only: str = ""
) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each kind, and the URLs of `count` migrated, empty databases of the
    service. `only` selects one of KINDS.
    """
    if only and only not in KINDS:
        raise SystemExit(f"{only} is none of {', '.join(KINDS)}")
    if only != "postgresql":
        with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
            numbers = range(count)
            yield "SQLite", _migrated([f"sqlite:///{directory}/{n}.db" for n in numbers], service)
    if only == "sqlite":
        return
    try:
        with running_server() as server:
            names = [server.create() for _ in range(count)]
            yield "PostgreSQL", _migrated([server.url_of(name) for name in names], service)
            for name in names:
                server.drop(name)
    except pytest.skip.Exception as missing:
        print(f"PostgreSQL: skipped, {missing}")


def _migrated(urls: list[str], service: str) -> list[str]:
    for url in urls:
        migrate.upgrade(url, service)
    return urls
