"""schemathesis against a running service: `scripts/fuzz`, and slices in the suite.

Every phase and every check of schemathesis.toml, as one user with another one as peer. The stages
make the server and its users; the hooks say what a document cannot.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from models import migrate
from tests.fuzz.chat_stage import fuzzed_chat
from tests.fuzz.payment_stage import fuzzed_payment
from tests.live.running_server import RunningServer

ROOT = Path(__file__).parents[2]
Stage = Callable[[str, Path], AbstractContextManager[tuple[RunningServer, Path]]]
STAGES: dict[str, tuple[Stage, str]] = {
    "payment": (fuzzed_payment, "/v1/openapi.json"),
    "chat": (fuzzed_chat, "/api/v1/openapi.json"),
}
"""By service: how its server is made, and where its document is."""


def run_schemathesis(
    service: str,
    server: RunningServer,
    users: Path,
    *,
    seconds: int,
    seed: int | None = None,
    phases: str = "examples,coverage,fuzzing,stateful",
) -> subprocess.CompletedProcess[str]:
    """One run of the phases within `seconds`; its whole report is in `stdout`."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "--config-file",
        str(ROOT / "schemathesis.toml"),
        "run",
        server.url + STAGES[service][1],
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


def answered(server: RunningServer) -> Counter[str]:
    """How often each status was given, by the server's own log."""
    return Counter(re.findall(r'"operation":"[^"]+".*"status":([0-9]+)', server.log.read_text()))


def exceptions(directory: Path) -> list[str]:
    """Every line of a server's or worker's log in `directory` that tells of an exception."""
    logs = sorted(directory.glob("*.log"))
    return [line for log in logs for line in log.read_text().splitlines() if '"exception"' in line]


def campaign(service: str, minutes: float) -> bool:
    """Whether a run of that long found nothing. Prints what it found."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        variable = f"SPECD_{service.upper()}_DATABASE_URL"
        url = os.environ.get(variable, f"sqlite:///{directory}/{service}.db")
        migrate.upgrade(url, service)
        with STAGES[service][0](url, directory) as (server, users):
            report = run_schemathesis(service, server, users, seconds=int(minutes * 60))
        print(report.stdout)
        told = ", ".join(
            f"{status}: {number}" for status, number in sorted(answered(server).items())
        )
        print(f"{service} on {url.partition(':')[0]}: answers by status: {told}")
        found = exceptions(directory)
        for line in found[:10]:
            print(line)
        return report.returncode == 0 and not found


def main(argv: list[str]) -> int:
    minutes = float(argv[0]) if argv else 10.0
    chosen = argv[1] if len(argv) > 1 else "both"
    if chosen not in (*STAGES, "both"):
        print(f"There is no service {chosen}; choose payment, chat or both.", file=sys.stderr)
        return 2
    services = list(STAGES) if chosen == "both" else [chosen]
    return 0 if all([campaign(service, minutes) for service in services]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
