"""`scripts/fire`: the campaign at full size on both databases. Exits with 1 if anything is lost."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.live.campaign_databases import databases
from tests.live.fire import run_cancel_races, run_storm


def campaign(url: str, *, keys: int, copies: int, races: int) -> bool:
    """Run storm and races on one migrated database. Return whether all succeeded."""
    with tempfile.TemporaryDirectory() as directory:
        storm = run_storm(url, Path(directory), keys=keys, copies=copies, kill_every_s=0.25, seed=7)
    print(
        f"  storm: {storm.keys} keys x {copies} copies, {storm.requests} answers, "
        f"{storm.kills} workers killed, {storm.broken} connections broken: "
        f"{storm.invoices} invoices, {len(storm.split_keys)} keys with different bodies, "
        f"{len(storm.stuck_keys)} stuck",
        flush=True,
    )
    for line in [*storm.split_keys, *storm.stuck_keys][:20]:
        print("   ", line)
    with tempfile.TemporaryDirectory() as directory:
        ended = run_cancel_races(url, Path(directory), races=races, seed=7)
    wrong = [race for race in ended if not race.consistent]
    print(f"  races: {dict(Counter(ended))}, {len(wrong)} inconsistent", flush=True)
    return storm.invoices == keys and not (storm.split_keys or storm.stuck_keys or wrong)


def main(argv: list[str]) -> int:
    keys, copies, races = (int(text) for text in (argv + ["1000", "16", "500"][len(argv) :]))
    held = True
    for name, url in databases("payment"):
        print(name, flush=True)
        held = campaign(url, keys=keys, copies=copies, races=races) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
