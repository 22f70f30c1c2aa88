"""The layout of docs/deploy on one machine: two servers, two workers, one PostgreSQL, one chain."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from adapters.chain.anvil import find_anvil
from cli.demo_seed import METHOD_ID, seed
from models.clock import SystemClock
from models.database import Database
from tests.live.chain_fixture import LocalChain, running_anvil, running_pyevm
from tests.live.running_server import ROOT, RunningServer

LEASE_LAPSES_WITHIN_S = 30.0
SOON_S = 30.0


@pytest.fixture
def chain() -> Iterator[LocalChain]:
    running = running_anvil if find_anvil(os.environ.get("SPECD_ANVIL", "")) else running_pyevm
    with running() as chain:
        yield chain


class Workers:
    """`specd worker` processes, by process id."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment = environment
        self.log = log
        self.running: dict[int, subprocess.Popen[bytes]] = {}

    def migrate(self) -> None:
        command = [sys.executable, "-m", "cli.main", "migrate"]
        subprocess.run(command, cwd=ROOT, env=self._environment, check=True)

    def start(self) -> None:
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "worker"],
                cwd=ROOT, env=self._environment, stdout=log, stderr=log,
            )  # fmt: skip
        self.running[process.pid] = process

    def kill(self, pid: int) -> None:
        process = self.running.pop(pid)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            process.wait(20)


def leader_of(database_url: str, name: str) -> str | None:
    with psycopg.connect(database_url.replace("+psycopg", "")) as connection:
        row = connection.execute(
            "SELECT holder FROM lease WHERE name = %s AND expires_at > %s",
            (name, int(time.time() * 1000)),
        ).fetchone()
    return str(row[0]) if row else None


def test_machines_share_their_work_and_survive_each_other(
    postgres_url: str, chain: LocalChain, tmp_path: Path
) -> None:
    environment = {
        "SPECD_PAYMENT_DATABASE_URL": postgres_url,
        "SPECD_CHAIN_RPC_URLS": f"31337={chain.url}",
        "SPECD_WORKERS": "1",
        "SPECD_CHAIN_POLL_S": "0.2",
    }
    database = Database(postgres_url)
    now = SystemClock().now()
    access = database.run(lambda session: seed(session, stored=None, now=now))
    database.dispose()
    headers = {"Authorization": f"Bearer {access.key}", "Idempotency-Key": "order-1-first"}
    order = {
        "external_order_id": "order-1",
        "attempt_no": 1,
        "amount": "1.5",
        "payment_method_id": METHOD_ID,
    }
    plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
    workers = Workers(
        {**plain, "PYTHONPATH": str(ROOT), "SPECD_DATA_DIR": str(tmp_path), **environment},
        tmp_path / "workers.log",
    )
    workers.migrate()
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(RunningServer(directory, environment))
            for directory in (tmp_path / "first", tmp_path / "second")
            if not directory.mkdir()
        )
        stack.callback(workers.stop)
        workers.start()
        workers.start()

        made = httpx.post(f"{first.url}/v1/invoices", headers=headers, json=order)
        again = httpx.post(f"{second.url}/v1/invoices", headers=headers, json=order)
        assert (made.status_code, again.status_code) == (201, 201), made.text
        assert again.content == made.content
        assert again.headers["Idempotent-Replayed"] == "true"
        invoice = made.json()

        def status(server: RunningServer) -> str:
            answer = httpx.get(f"{server.url}/v1/invoices/{invoice['id']}", headers=headers)
            return str(answer.json()["status"])

        leader = wait_for_leader(postgres_url)
        (pid,) = {pid for pid in workers.running if f":{pid}:" in leader}
        workers.kill(pid)

        chain.pay(invoice["deposit_address"], 1_500_000)
        chain.mine(1)
        deadline = time.monotonic() + LEASE_LAPSES_WITHIN_S + SOON_S
        while status(second) != "paid":
            assert time.monotonic() < deadline, workers.log.read_text()[-4000:]
            time.sleep(0.1)
        assert status(first) == "paid"
        assert leader_of(postgres_url, "chain_watcher:31337") != leader


def wait_for_leader(database_url: str) -> str:
    deadline = time.monotonic() + SOON_S
    while (leader := leader_of(database_url, "chain_watcher:31337")) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return leader
