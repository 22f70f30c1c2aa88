"""`scripts/event-storm`: the storm of events at full size on both databases.

Exits with 1 if anything is lost, doubled or out of order.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.live.campaign_databases import databases
from tests.live.event_storm import run_storm
from tests.live.held_transactions import HeldTransactions

HELD = 15
"""Messages of each sender that keeps transactions open for up to five seconds."""


def main(argv: list[str]) -> int:
    writers, messages, readers = (int(text) for text in (argv + ["8", "2000", "50"][len(argv) :]))
    whole = True
    for name, url in databases("chat"):
        with tempfile.TemporaryDirectory() as directory:
            storm = run_storm(
                url,
                Path(directory),
                writers=writers,
                messages=messages,
                readers=readers,
                processes=4,
                kill_every_s=0.5,
                kill_server_after_s=20.0,
                held=HELD if name == "PostgreSQL" else 0,
            )
        told = sum(len(reader.message_ids) for reader in storm.readers)
        print(
            f"{name}: {len(storm.sent)} messages acknowledged, {told} told to {readers} readers, "
            f"{storm.kills} kills, {storm.seconds:.0f} s, {len(storm.faults())} faults",
            flush=True,
        )
        for line in storm.faults()[:20]:
            print("   ", line)
        slow = HeldTransactions.count(HELD) if name == "PostgreSQL" else 0
        whole = whole and len(storm.sent) == writers * messages + slow and not storm.faults()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
