"""A command of one checkout as a process with children: its time, its memory, its end."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.checkout import Checkout

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Memory:
    """MiB of one process: `rss` counts all its pages, `pss` its share of them."""

    rss: float
    pss: float


def argv(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "specd._cli.main", *arguments]


class Running:
    """`specd ARGUMENTS` of a checkout, from `with` to the end of the block."""

    def __init__(
        self, checkout: Checkout, arguments: Sequence[str], env: Mapping[str, str], log: Path
    ) -> None:
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                argv(arguments),
                cwd=checkout.root,
                env=checkout.environment(env),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._log = log

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        pids = list(self.pids())
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            self._process.wait()

    def require_alive(self) -> None:
        if self._process.poll() is not None:
            sys.exit(f"specd ended:\n{self.output()}")

    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def pids(self) -> Iterator[int]:
        """Yield the process and all its descendants, parents first."""
        children: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(stat.parent.name))
        waiting = [self._process.pid]
        while waiting:
            pid = waiting.pop(0)
            yield pid
            waiting += sorted(children.get(pid, ()))

    def cpu_seconds(self) -> float:
        """Return the CPU time of the running processes and of their ended children."""
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        return ticks / TICKS_PER_SECOND

    def memory(self) -> list[Memory]:
        """Return the memory of each process, parents first."""
        found = []
        for pid in self.pids():
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
            sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}
            found.append(Memory(rss=sizes["Rss"], pss=sizes["Pss"]))
        return found
