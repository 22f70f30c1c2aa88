"""`scripts/import`: import an organization of a million messages on both databases, and again with
a killed command.

Exits with 1 if anything is wrong. Speed and memory are printed next to their limits; they need an
idle machine.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.chat.realm import LEAST_MESSAGES, RECENT
from tests.live.campaign_databases import several_databases
from tests.live.importing import NEW_HOST, command, differences, import_killed, make_archive

LEAST_SPEED = 5_000
MAX_MEMORY_MIB = 64
KILLED_AFTER_S = 2.0
"""After the command has begun to write."""


def measure(name: str, url: str, folder: Path, small: Path, large: Path, messages: int) -> bool:
    before = command(url, folder, str(small), "--host", "small.example")
    ended = command(url, folder, str(large), "--host", NEW_HOST)
    speed, grown = messages / ended.seconds, ended.peak_mib - before.peak_mib
    print(
        f"{name}: {ended.seconds:.0f} s ({ended.cpu_s:.0f} s of the processor),"
        f" {speed:.0f} messages/s (least {LEAST_SPEED}),"
        f" {ended.peak_mib:.0f} MiB, +{grown:.0f} MiB (most {MAX_MEMORY_MIB})"
        f" {ended.out or ended.err}",
        flush=True,
    )
    return before.status == ended.status == 0


def kill(name: str, url: str, whole: str, folder: Path, small: Path, large: Path) -> bool:
    """Import both archives into another database while the command is killed repeatedly."""
    began = time.monotonic()
    first = command(url, folder, str(small), "--host", "small.example")
    grace_s = (KILLED_AFTER_S, KILLED_AFTER_S)
    killed = import_killed(url, folder, large, grace_s=grace_s)
    seconds = time.monotonic() - began
    found = differences(whole, url)
    print(
        f"{name}, killed {KILLED_AFTER_S:g} s after each beginning: {killed} kills in"
        f" {seconds:.0f} s; {', '.join(found) or 'the same organization'}",
        flush=True,
    )
    return first.status == 0 and not found


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
        for name, (url, other) in several_databases("chat", 2, only=only):
            to, killed = folder / f"{name}-to", folder / f"{name}-killed"
            held = measure(name, url, to, small, large, messages) and held
            held = kill(name, other, url, killed, small, large) and held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
