"""`scripts/topic-deletion`: deleting a large topic on both databases. Exits with 1 if anything is
inconsistent, lost or left.

The time of other requests is printed next to its limit without a check, because it needs an idle
machine.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from specd.db import Clock, Database
from tests.live.campaign_databases import several_databases
from tests.live.topic_deletion import run_deletion
from tests.support.chat.people import make_cast

KILL_EVERY_S = 1.0


def main(argv: list[str]) -> int:
    measured, killed = (int(text) for text in (argv + ["100000", "20000"][len(argv) :]))
    whole = True
    for name, urls in several_databases("chat", 2):
        for url, messages, kill_every_s in zip(
            urls, (measured, killed), (None, KILL_EVERY_S), strict=True
        ):
            database = Database(url)
            cast = database.run(lambda session: make_cast(session, now=Clock().now()))
            database.dispose()
            with tempfile.TemporaryDirectory() as directory:
                report = run_deletion(
                    url, cast, Path(directory), messages=messages, idle_s=20,
                    kill_every_s=kill_every_s,
                )  # fmt: skip
            print(f"{name}: {report}", flush=True)
            ratio = report.p99_meanwhile / report.p99_idle
            print(f"  {report.kills} kills; p99 of others x {ratio:.2f} (bound 2)", flush=True)
            whole = whole and not report.torn and not report.wrong
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
