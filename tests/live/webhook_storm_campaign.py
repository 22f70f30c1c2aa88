"""`scripts/webhook-storm`: both storms at full size on both databases.

Exits with 1 if anything is wrong.
"""

from __future__ import annotations

import sys

from tests.live import bot_storm, webhook_storm
from tests.live.campaign_databases import databases
from tests.live.delivery_campaign import make_database

KILL_EVERY_S = 0.2
SEED = 7


def storm_of_events(transitions: int, workers: int) -> bool:
    """Run the payment service's storm. Return whether it succeeded."""
    held = True
    for name, url in databases("payment"):
        report = webhook_storm.run_storm(
            url, transitions=transitions, workers=workers, kill_every_s=KILL_EVERY_S,
            followers=10, seed=SEED,
        )  # fmt: skip
        print(f"{name}: {report}", flush=True)
        held = held and not (report.lost or report.disordered or report.misread)
    return held


def storm_of_bots(messages: int, workers: int) -> bool:
    """Run the chat service's storm. Return whether it succeeded."""
    held = True
    for name, url in databases("chat"):
        report = bot_storm.run_storm(
            url, make_database(url), messages=messages, workers=workers,
            kill_every_s=KILL_EVERY_S, seed=SEED,
        )  # fmt: skip
        print(f"{name}: {report}", flush=True)
        wrong = report.lost or report.doubled or report.renamed or report.complaints
        held = held and not wrong
    return held


def main(argv: list[str]) -> int:
    given = (int(text) for text in (argv + ["20000", "500", "3"][len(argv) :]))
    transitions, messages, workers = given
    return (
        0 if all([storm_of_events(transitions, workers), storm_of_bots(messages, workers)]) else 1
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
