"""`scripts/import`: an organization of a million messages comes in, on both databases; exits 1 when
anything is wrong. Speed and memory are printed beside their bounds; they need a quiet machine.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.chat.realm import LEAST_MESSAGES, RECENT
from models import migrate
from tests.live.importing import NEW_HOST, command, make_archive
from tests.support.postgres import running_server

LEAST_SPEED = 5_000
MOST_MEMORY_MIB = 64


def measure(name: str, url: str, folder: Path, small: Path, large: Path, messages: int) -> bool:
    migrate.upgrade(url, "chat")
    before = command(url, folder, str(small), "--host", "small.example")
    ended = command(url, folder, str(large), "--host", NEW_HOST)
    speed, grown = messages / ended.seconds, ended.peak_mib - before.peak_mib
    print(
        f"{name}: {ended.seconds:.0f} s ({ended.cpu_s:.0f} s of the processor),"
        f" {speed:.0f} messages/s (least {LEAST_SPEED}),"
        f" {ended.peak_mib:.0f} MiB, +{grown:.0f} MiB (most {MOST_MEMORY_MIB})"
        f" {ended.out or ended.err}",
        flush=True,
    )
    return before.status == ended.status == 0


def main(argv: list[str]) -> int:
    messages, files = (int(text) for text in (argv + ["1000000", "10000"][len(argv) :])[:2])
    only = argv[2] if len(argv) > 2 else ""
    held = True
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        url = f"sqlite:///{folder}/source.db"
        large = make_archive(url, folder / "from", messages=messages, files=files, recent=RECENT)
        url = f"sqlite:///{folder}/small.db"
        small = make_archive(url, folder / "small", messages=LEAST_MESSAGES, files=0, recent=0)
        print(f"archive: {large.stat().st_size / 1024 / 1024:.0f} MiB", flush=True)
        if only != "postgresql":
            url = f"sqlite:///{folder}/target.db"
            held = measure("SQLite", url, folder / "to", small, large, messages)
        if only == "sqlite":
            return 0 if held else 1
        try:
            with running_server() as server:
                name = server.create()
                url = server.url_of(name)
                held = measure("PostgreSQL", url, folder / "too", small, large, messages) and held
                server.drop(name)
        except pytest.skip.Exception as missing:
            print(f"PostgreSQL: skipped, {missing}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
