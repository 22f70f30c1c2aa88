"""Runs wrk and reads its results."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load.checkout import ROOT

SCRIPTS = Path("benchmarks/load")


class LoadFailed(Exception):
    """wrk did not run, or some responses were errors, so the figures are meaningless."""


@dataclass(frozen=True, slots=True)
class Load:
    """The figures of one run. Latencies are in milliseconds, `seconds` is wrk's measurement."""

    requests: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds


def run_wrk(
    url: str,
    *,
    script: str,
    arguments: Sequence[str],
    seconds: float,
    connections: int,
    core: int | None,
) -> Load:
    """Load `url` with a script of benchmarks/load for whole seconds, from one pinned thread.

    Raise LoadFailed if any response was not 2xx or any connection broke: a fast error is not a fast
    response.
    """
    pin = ["taskset", "-c", str(core)] if core is not None else []
    command = [
        *pin,
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{max(1, round(seconds))}s",
        "--latency",
        "--timeout",
        "10s",
    ]
    command += ["-s", str(SCRIPTS / script), url, "--", *arguments]
    finished = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=seconds + 30, check=False
    )
    if finished.returncode != 0 or not finished.stdout.strip():
        raise LoadFailed(f"wrk on {url}: {finished.stderr.strip() or finished.stdout.strip()}")
    figures = json.loads(finished.stdout.strip().splitlines()[-1])
    if figures["refused"] or figures["broken"] or not figures["requests"]:
        raise LoadFailed(
            f"{url} ({script}): {figures['requests']} answers, {figures['refused']} not 2xx, "
            f"{figures['broken']} broken"
        )
    return Load(
        requests=figures["requests"],
        seconds=figures["duration_us"] / 1e6,
        p50_ms=figures["p50_us"] / 1000,
        p99_ms=figures["p99_us"] / 1000,
    )
