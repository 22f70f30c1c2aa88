"""schemathesis with a running service: `scripts/fuzz`, and samples in the suite.

All phases and checks of schemathesis.toml, with two users. The stages create the server and its
users, and the hooks add rules that a document cannot express.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from specd._db import migrate
from tests.contract.fuzz.chat_stage import fuzzed_chat
from tests.contract.fuzz.payment_stage import fuzzed_payment
from tests.live.running_server import RunningServer
from tests.support.served import served

ROOT = Path(__file__).parents[3]
Stage = Callable[[str, Path], AbstractContextManager[tuple[RunningServer, Path]]]
STAGES: dict[str, Stage] = {"payment": fuzzed_payment, "chat": fuzzed_chat}
"""Service -> a function that starts its server."""
PHASES = "examples,coverage,fuzzing,stateful"
REPEATED_PHASES = "fuzzing,stateful"
ROUND_S = 300


def run_schemathesis(
    service: str,
    server: RunningServer,
    users: Path,
    *,
    seconds: int,
    seed: int | None = None,
    phases: str = PHASES,
) -> subprocess.CompletedProcess[str]:
    """Run the phases once within `seconds`, on all documents of the service combined. The complete
    report is in `stdout`.
    """
    document = users.with_name(f"{service}.json")
    document.write_text(json.dumps(served(service)))
    base = served(service)["servers"][0]["url"].rstrip("/")
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "--config-file",
        str(ROOT / "schemathesis.toml"),
        "run",
        str(document),
        f"--url={server.url}{base}",
        "--continue-on-failure",
        f"--phases={phases}",
        f"--max-time={seconds}",
    ]
    if seed is not None:
        command.append(f"--seed={seed}")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SPECD_FUZZ_SERVICE": service,
        "SPECD_FUZZ_USERS": str(users),
    }
    return subprocess.run(
        command,
        cwd=users.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds + 180,
        check=False,
    )


def lines_of(log: Path) -> Iterator[str]:
    """Yield the lines of a log one at a time, because a long campaign writes gigabytes."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        yield from lines


def answered(server: RunningServer) -> Counter[str]:
    """Return the number of responses with each status, from the log of the server."""
    pattern = re.compile(r'"operation":"[^"]+".*"status":([0-9]+)')
    found = (pattern.search(line) for line in lines_of(server.log))
    return Counter(match[1] for match in found if match)


def exceptions(directory: Path) -> list[str]:
    """Return every line of a log of a server or worker in `directory` that reports an exception."""
    logs = sorted(directory.glob("*.log"))
    return [line for log in logs for line in lines_of(log) if '"exception"' in line]


def cases_of(report: str) -> int:
    """Return the number of generated cases in a report."""
    found = re.search(r"^ *([0-9]+) generated", report, re.MULTILINE)
    return int(found[1]) if found else 0


def campaign(service: str, seconds: float, cases: float) -> bool:
    """Run rounds for that long, or until that many cases. Return whether there are no findings, and
    print them.

    A round is a run of schemathesis with a new seed, on the database left by previous rounds.
    Examples and coverage are always the same, so only the first round has them.
    """
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        variable = f"SPECD_{service.upper()}_DATABASE_URL"
        url = os.environ.get(variable, f"sqlite:///{directory}/{service}.db")
        engine = url.partition(":")[0]
        migrate.upgrade(url, service)
        made = rounds = failed = 0
        with STAGES[service](url, directory) as (server, users):
            while made < cases and (left := end - time.monotonic()) > 0:
                report = run_schemathesis(
                    service,
                    server,
                    users,
                    seconds=max(int(min(left, ROUND_S)), 1),
                    phases=PHASES if rounds == 0 else REPEATED_PHASES,
                )
                rounds += 1
                made += cases_of(report.stdout)
                failed += report.returncode != 0
                if rounds == 1 or report.returncode != 0:
                    print(report.stdout)
                print(f"{service} on {engine}, round {rounds}: {made} cases so far", flush=True)
        told = ", ".join(
            f"{status}: {number}" for status, number in sorted(answered(server).items())
        )
        print(f"{service} on {engine}: {made} cases in {rounds} rounds, {failed} with failures")
        print(f"{service} on {engine}: answers by status: {told}")
        found = exceptions(directory)
        for line in found[:10]:
            print(line)
        return made > 0 and failed == 0 and not found


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz")
    parser.add_argument("minutes", nargs="?", type=float, default=10.0)
    parser.add_argument("service", nargs="?", choices=(*STAGES, "both"), default="both")
    parser.add_argument("--cases", type=int, help="end after this number of cases")
    told = parser.parse_args(argv)
    services = list(STAGES) if told.service == "both" else [told.service]
    cases = math.inf if told.cases is None else told.cases
    return 0 if all([campaign(service, told.minutes * 60, cases) for service in services]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
