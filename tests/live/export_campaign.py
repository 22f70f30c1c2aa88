"""`scripts/export`: the complete campaign on both databases. Exits with 1 if anything is wrong.

The time of other requests is printed next to its limit without a check, because it needs an idle
machine.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.live.campaign_databases import databases
from tests.live.exports import campaign

MAX_MEMORY_MIB = 150


def run(name: str, url: str, directory: str, *, messages: int, kills: int) -> bool:
    report = campaign(url, Path(directory), messages=messages, kills=kills)
    grown = report.peak_mib - report.idle_mib
    ratio = report.p99_meanwhile / report.p99_idle
    print(f"{name}: {report}", flush=True)
    print(f"  memory +{grown:.1f} MiB (bound {MAX_MEMORY_MIB}); p99 x {ratio:.2f} (bound 2)")
    return not report.wrong and grown <= MAX_MEMORY_MIB


def main(argv: list[str]) -> int:
    messages, kills = (int(text) for text in (argv + ["1000000", "10"][len(argv) :])[:2])
    held = True
    for name, url in databases("chat", only=argv[2] if len(argv) > 2 else ""):
        with tempfile.TemporaryDirectory() as directory:
            held = run(name, url, directory, messages=messages, kills=kills) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
