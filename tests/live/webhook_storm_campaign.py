"""`scripts/webhook-storm`: the whole storm on both databases; exits 1 when anything is wrong."""

from __future__ import annotations

import sys

from tests.live.campaign_databases import databases
from tests.live.webhook_storm import run_storm


def main(argv: list[str]) -> int:
    transitions, workers = (int(text) for text in (argv + ["20000", "3"][len(argv) :]))
    held = True
    for name, url in databases("payment"):
        report = run_storm(
            url, transitions=transitions, workers=workers, kill_every_s=0.2, followers=10, seed=7
        )
        print(f"{name}: {report}", flush=True)
        held = held and not (report.lost or report.disordered or report.misread)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
