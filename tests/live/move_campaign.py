"""`scripts/move`: an organization of a million messages moves while people use it, on both
databases.

Exits with 1 if anything is wrong or if it was unavailable for too long.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from benchmarks.chat.realm import RECENT
from tests.live.campaign_databases import several_databases
from tests.live.cells import find_programs
from tests.live.moving import move

WRITERS, READERS = 4, 4
SHOWN = 10
MAX_STOPPED_S = 10


def run(name: str, one: str, two: str, folder: Path, messages: int, *, has_new_ids: bool) -> bool:
    outcome = move(
        one, two, folder, is_used=has_new_ids, messages=messages, recent=RECENT,
        writers=WRITERS, readers=READERS,
    )  # fmt: skip
    held = not outcome.wrong and outcome.stopped_s <= MAX_STOPPED_S
    print(f"{'PASS' if held else 'FAIL'} {name}, {messages} messages: {outcome}", flush=True)
    for each in outcome.wrong[:SHOWN]:
        print(f"  {each}", flush=True)
    return held


def main(argv: list[str]) -> int:
    try:
        find_programs("haproxy", "socat")
    except pytest.skip.Exception as missing:
        raise SystemExit(f"scripts/move: {missing}") from None
    messages = int(argv[0]) if argv else 1_000_000
    only = argv[1] if len(argv) > 1 else ""
    held = True
    for name, (one, two) in several_databases("chat", 2, only=only):
        with tempfile.TemporaryDirectory() as directory:
            folder, has_new_ids = Path(directory), "new-ids" in argv[2:]
            held = run(name, one, two, folder, messages, has_new_ids=has_new_ids) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
