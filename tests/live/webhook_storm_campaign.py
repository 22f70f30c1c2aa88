"""`scripts/webhook-storm`: the whole storm on both databases; exits 1 when anything is wrong."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator

import pytest

from models import migrate
from tests.live.webhook_storm import run_storm
from tests.support.postgres import running_server


def databases() -> Iterator[tuple[str, str]]:
    """Each kind of database that this machine has, and the URL of an empty one."""
    with tempfile.TemporaryDirectory() as directory:
        yield "SQLite", f"sqlite:///{directory}/payment.db"
    try:
        with running_server() as server:
            name = server.create()
            yield "PostgreSQL", server.url_of(name)
            server.drop(name)
    except pytest.skip.Exception as missing:
        print(f"PostgreSQL: skipped, {missing}")


def main(argv: list[str]) -> int:
    transitions, workers = (int(text) for text in (argv + ["20000", "3"][len(argv) :]))
    held = True
    for name, url in databases():
        migrate.upgrade(url, "payment")
        report = run_storm(
            url, transitions=transitions, workers=workers, kill_every_s=0.2, followers=10, seed=7
        )
        print(f"{name}: {report}", flush=True)
        held = held and not (report.lost or report.disordered or report.misread)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
