"""`scripts/delivery`: the full campaign on both databases. Exits with 1 if anything is wrong."""

from __future__ import annotations

import sys
from collections import Counter

from specd.db import Database
from tests.live.campaign_databases import several_databases
from tests.live.delivery import run_delivery, run_races
from tests.support.chat.people import CAST_MADE_AT, Cast, make_cast


def make_database(url: str) -> Cast:
    database = Database(url)
    try:
        return database.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    finally:
        database.dispose()


def campaign(urls: list[str], *, messages: int, races: int) -> bool:
    """Run all three parts, each on a separate database. Return whether all succeeded."""
    killed, quiet, raced = urls
    report = run_delivery(
        killed, make_database(killed), messages=messages, workers=3, spread_s=messages / 250,
        kill_every_s=0.2, seed=7,
    )  # fmt: skip
    print(f"  under SIGKILL: {report}", flush=True)
    held = not (report.lost or report.doubled or report.early or report.torn)
    report = run_delivery(
        quiet, make_database(quiet), messages=200, workers=3, spread_s=10, kill_every_s=None, seed=7
    )
    print(f"  without kills: {report}", flush=True)
    held = held and report.median_late_s <= 1 and not report.lost
    ended = run_races(raced, make_database(raced), races=races, workers=3, seed=7)
    outcomes = Counter((race.kind, "accepted" if race.accepted else "refused") for race in ended)
    wrong = [race for race in ended if not race.consistent]
    print(f"  races: {dict(outcomes)}, {len(wrong)} inconsistent {wrong[:5]}", flush=True)
    return held and not wrong


def main(argv: list[str]) -> int:
    messages, races = (int(text) for text in (argv + ["5000", "500"][len(argv) :]))
    held = True
    for name, urls in several_databases("chat", 3):
        print(name, flush=True)
        held = campaign(urls, messages=messages, races=races) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
