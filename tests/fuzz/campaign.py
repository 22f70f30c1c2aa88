"""schemathesis against the running payment service: `scripts/fuzz`, and a slice in the suite.

Two projects, each the other's peer; a real chain (anvil, else the one in process), so that sessions
are made; every phase and every check, as schemathesis.toml says.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import yaml
from sqlalchemy.orm import Session

from adapters.chain.anvil import find_anvil
from cli.demo_seed import XPUB
from models import migrate
from models.database import Database
from models.payment import keys, methods, projects
from tests.fuzz.hooks import METHOD
from tests.live.chain_fixture import running_anvil, running_pyevm
from tests.live.running_server import RunningServer

ROOT = Path(__file__).parents[2]
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"


def _create_merchant(database: Database, name: str) -> str:
    """A project with one method; its key."""
    now = datetime.now(UTC)

    def work(session: Session) -> str:
        project = projects.create_project(session, name=name, xpub=XPUB, now=now)
        methods.create_method(
            session,
            project_id=project.id,
            method_id=METHOD,
            chain_id=31337,
            token_address=TOKEN,
            token_symbol="TUSD",
            confirmations_required=2,
            now=now,
        )
        return keys.create_key(session, project_id=project.id, now=now)[1]

    return database.run(work)


@contextmanager
def fuzzed_server(database_url: str, directory: Path) -> Iterator[tuple[RunningServer, Path]]:
    """A server to fuzz and the file that holds its two users (Web Fuzzing Commons)."""
    database = Database(database_url)
    users = {
        "auth": [
            {
                "name": name,
                "fixedHeaders": [
                    {"name": "Authorization", "value": f"Bearer {_create_merchant(database, name)}"}
                ],
            }
            for name in ("first", "second")
        ]
    }
    database.dispose()
    path = directory / "users.yaml"
    path.write_text(yaml.safe_dump(users))
    environment = {"SPECD_PAYMENT_DATABASE_URL": database_url, "SPECD_WORKERS": "2"}
    with ExitStack() as stack:
        has_anvil = find_anvil(os.environ.get("SPECD_ANVIL", "")) is not None
        chain = stack.enter_context(running_anvil() if has_anvil else running_pyevm())
        environment["SPECD_CHAIN_RPC_URLS"] = chain.url
        server = stack.enter_context(RunningServer(directory, environment))
        yield server, path


def run_schemathesis(
    server: RunningServer, users: Path, *, seconds: int, seed: int | None = None
) -> subprocess.CompletedProcess[str]:
    """One run of every phase within `seconds`; its whole report is in `stdout`."""
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "--config-file",
        str(ROOT / "schemathesis.toml"),
        "run",
        f"{server.url}/v1/openapi.json",
        "--continue-on-failure",
        f"--max-time={seconds}",
    ]
    if seed is not None:
        command.append(f"--seed={seed}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPECD_FUZZ_USERS": str(users)}
    return subprocess.run(
        command,
        cwd=users.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds + 120,
        check=False,
    )


def main(argv: list[str]) -> int:
    seconds = int(float(argv[0]) * 60) if argv else 600
    with tempfile.TemporaryDirectory() as directory:
        url = os.environ.get("SPECD_PAYMENT_DATABASE_URL", f"sqlite:///{directory}/payment.db")
        migrate.upgrade(url, "payment")
        with fuzzed_server(url, Path(directory)) as (server, users):
            report = run_schemathesis(server, users, seconds=seconds)
        print(report.stdout)
        failures = [line for line in server.log.read_text().splitlines() if '"exception"' in line]
        for line in failures[:10]:
            print(line)
        return report.returncode or (1 if failures else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
