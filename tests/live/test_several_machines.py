"""The files of docs/deploy in use: nginx, two servers, two workers, one PostgreSQL, one chain."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from demo.chain.anvil import find_anvil
from demo.seed import METHOD_ID, seed
from settings import Settings
from specd.db import Clock, Database
from tests.live.chain_fixture import LocalChain, running_anvil, running_pyevm
from tests.live.deployment import NAME, Nginx, environment_of_containers, environment_of_units
from tests.live.running_server import ROOT, RunningServer, free_port
from tests.support import warm
from tests.support.postgres import PostgresServer

LEASE_LAPSES_WITHIN_S = 30.0
SOON_S = 180.0
SECRET = "the secret of two machines, of thirty-two characters"
PASSWORD = "four score and seven"


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
        command = [sys.executable, "-m", "specd._cli.main", "migrate"]
        warm.run(command, cwd=ROOT, env=self._environment, check=True)

    def start(self) -> None:
        with self.log.open("ab") as log:
            process = warm.Popen(
                [sys.executable, "-m", "specd._cli.main", "worker"],
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


@dataclass(frozen=True)
class Site:
    """Two machines that serve both services behind nginx, their workers, and the databases."""

    environment: dict[str, str]
    servers: tuple[RunningServer, RunningServer]
    workers: Workers
    nginx: Nginx
    payment_url: str

    def specd(self, *words: str, typed: str = "") -> dict[str, Any]:
        """Return the output of a command on the first machine."""
        done = warm.run(
            [sys.executable, "-m", "specd._cli.main", *words, "--json"],
            cwd=ROOT, env=self.environment, input=typed, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


@pytest.fixture
def site(postgres: PostgresServer, chain: LocalChain, tmp_path: Path) -> Iterator[Site]:
    """One machine has its environment from `specd.env`, the other from compose.yaml."""
    databases = [postgres.create() for _ in range(2)]
    payment_url, chat_url = map(postgres.url_of, databases)
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    ports = free_port(), free_port()
    shared = {
        "SPECD_PAYMENT_DATABASE_URL": payment_url,
        "SPECD_CHAT_DATABASE_URL": chat_url,
        "SPECD_CHAT_EXPORT_DIR": str(tmp_path / "exports"),
        "SPECD_CHAIN_RPC_URLS": f"31337={chain.url}",
        "SPECD_PUBLIC_URL": f"https://{NAME}",
        "SPECD_TRUSTED_PROXIES": "127.0.0.1",
    }
    first, second = tmp_path / "first", tmp_path / "second"
    units = environment_of_units(
        {
            **shared,
            "SPECD_DATA_DIR": str(first),
            "SPECD_METRICS_DIR": str(first / "metrics"),
            "SPECD_BIND": f"127.0.0.1:{ports[0]}",
            "SPECD_CHAT_SECRET_FILE": str(secret),
            "SPECD_PAYMENT_SECRET_FILE": str(secret),
            "SPECD_WORKERS": "1",
        }
    )
    secrets = {"SPECD_CHAT_SECRET_FILE": str(secret), "SPECD_PAYMENT_SECRET_FILE": str(secret)}
    given = {"POSTGRES_PASSWORD": "wanted", **secrets, **shared}
    containers = environment_of_containers(
        "serve-postgres",
        given,
        {
            "SPECD_PAYMENT_DATABASE_URL": payment_url,
            "SPECD_CHAT_DATABASE_URL": chat_url,
            "SPECD_CHAT_EXPORT_DIR": shared["SPECD_CHAT_EXPORT_DIR"],
            "SPECD_BIND": f"127.0.0.1:{ports[1]}",
        },
    )
    assert "SPECD_RATE_LIMITS" not in {**units, **containers}, "limits are on"
    # Values that an image sets, and a shorter wait.
    containers |= {"SPECD_DATA_DIR": str(second), "SPECD_WORKERS": "1"}
    environments = [{"SPECD_CHAIN_POLL_S": "0.2", **one} for one in (units, containers)]
    for folder in (first, second):
        folder.mkdir(mode=0o700)
    plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
    environment = {**plain, "PYTHONPATH": str(ROOT), **environments[0]}
    workers = Workers(environment, tmp_path / "workers.log")
    workers.migrate()
    with ExitStack() as stack:
        stack.callback(lambda: [postgres.drop(name) for name in databases])
        one, other = (
            stack.enter_context(
                RunningServer(folder, its, words=("serve",), as_given=True, port=port)
            )
            for folder, its, port in zip((first, second), environments, ports, strict=True)
        )
        nginx = Nginx(tmp_path / "nginx", (f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"))
        stack.enter_context(nginx)
        stack.callback(workers.stop)
        workers.start()
        workers.start()
        yield Site(environment, (one, other), workers, nginx, payment_url)


def test_machines_share_their_work_and_survive_each_other(site: Site, chain: LocalChain) -> None:
    first, second = site.servers
    database = Database(site.payment_url)
    now = Clock().now()
    access = database.run(lambda session: seed(session, stored=None, now=now))
    database.dispose()
    headers = {"Authorization": f"Bearer {access.key}", "Idempotency-Key": "order-1-first"}
    order = {
        "external_order_id": "order-1",
        "attempt_no": 1,
        "amount": "1.5",
        "payment_method_id": METHOD_ID,
    }
    made = httpx.post(f"{first.url}/v1/invoices", headers=headers, json=order)
    again = httpx.post(f"{second.url}/v1/invoices", headers=headers, json=order)
    assert (made.status_code, again.status_code) == (201, 201), made.text
    assert again.content == made.content
    assert again.headers["Idempotent-Replayed"] == "true"
    invoice = made.json()
    with site.nginx.client(name="pay.example") as shop:
        path = f"/v1/invoices/{invoice['id']}"
        page = shop.post(f"{path}/checkout-sessions", headers=headers).json()["checkout_url"]
        assert shop.get(httpx.URL(page).path).status_code == 200
        assert shop.get("/docs/payment").status_code == 200
        for inside in ("/metrics", "/healthz", "/readyz"):
            assert shop.get(inside).status_code == 404

        leader = wait_for_leader(site.payment_url)
        (pid,) = {pid for pid in site.workers.running if f":{pid}:" in leader}
        site.workers.kill(pid)

        chain.pay(invoice["deposit_address"], 1_500_000)
        chain.mine(1)
        deadline = time.monotonic() + LEASE_LAPSES_WITHIN_S + SOON_S
        while shop.get(path, headers=headers).json()["status"] != "paid":
            assert time.monotonic() < deadline, site.workers.log.read_text()[-4000:]
            time.sleep(0.1)
    for server in site.servers:
        answer = httpx.get(f"{server.url}{path}", headers=headers)
        assert answer.json()["status"] == "paid"
    assert leader_of(site.payment_url, "chain_watcher:31337") != leader


def test_both_services_behind_nginx(site: Site) -> None:
    made = site.specd(
        "chat", "create-realm", "--name", "Acme", "--host", NAME, "--owner-email",
        "owner@chat.example", "--owner-name", "Owner", "--owner-password-file", "-",
        typed=PASSWORD,
    )  # fmt: skip
    auth = (made["email"], made["api_key"])
    with ExitStack() as stack:
        person, stranger = (
            stack.enter_context(site.nginx.client(address))
            for address in ("127.0.0.2", "127.0.0.3")
        )

        # A flood is rejected for its sender, whatever the headers claim.
        def flood(requests: int) -> Counter[int]:
            answers = (
                stranger.get("/api/v1/users/me", headers={"X-Forwarded-For": f"192.0.2.{n}"})
                for n in range(requests)
            )
            return Counter(answer.status_code for answer in answers)

        found = flood(400)
        assert found.keys() == {401, 429}
        assert found[401] < 300, "each machine takes 100 a minute"
        form = {"username": made["email"], "password": PASSWORD}

        def is_limited() -> bool:
            """On a slow machine, the limit allows one more request before the next is sent."""
            flood(10)
            return stranger.post("/api/v1/fetch_api_key", data=form).status_code == 429

        assert any(is_limited() for _ in range(3))
        assert person.post("/api/v1/fetch_api_key", data=form).json()["api_key"] == auth[1]
        guessed = {**form, "password": "wrong"}
        another = stack.enter_context(site.nginx.client("127.0.0.4"))
        tried = [another.post("/api/v1/fetch_api_key", data=guessed) for _ in range(8)]
        # Both machines share one count.
        assert [answer.status_code for answer in tried] == [401] * 5 + [429] * 3
        assert person.post("/api/v1/fetch_api_key", data=form).status_code == 200

        # Bodies of the maximum size of chat. Larger ones are rejected with its error.
        text = "x" * 900_000
        shown = person.post("/api/v1/messages/render", data={"content": text}, auth=auth)
        assert (shown.status_code, shown.json()["result"]) == (400, "error"), shown.text[:300]
        large = person.post("/api/v1/messages/render", content=b"x" * 1_500_000, auth=auth)
        assert (large.status_code, large.json()["result"]) == (413, "error"), large.text[:300]

        told = person.post("/api/v1/export/realm", auth=auth)
        assert told.json()["result"] == "success", told.text
        deadline = time.monotonic() + SOON_S * 2
        while True:
            exports = person.get("/api/v1/export/realm", auth=auth).json()["exports"]
            if exports[0]["export_url"]:
                break
            assert time.monotonic() < deadline, site.workers.log.read_text()[-4000:]
            time.sleep(0.1)
        path = httpx.URL(exports[0]["export_url"]).raw_path.decode()
        archive = site.servers[1]
        answer = httpx.get(f"{archive.url}{path}", headers={"Host": NAME})
        assert (answer.status_code, answer.content[:2]) == (200, b"PK"), answer.text[:300]

        answer = person.get("/docs")
        assert answer.headers.get_list("Strict-Transport-Security") == ["max-age=31536000"]
    with httpx.Client(base_url=f"http://127.0.0.1:{site.nginx.plain_port}") as plain:
        moved = plain.get("/checkout/x", headers={"Host": NAME})
        assert (moved.status_code, moved.headers["Location"]) == (301, f"https://{NAME}/checkout/x")
        assert plain.get("/api/v1/users/me", headers={"Host": NAME}).status_code == 403


def test_the_files_give_every_machine_both_databases(tmp_path: Path) -> None:
    """Otherwise a machine would have its own database, keys or exports."""
    several = {"SPECD_PAYMENT_DATABASE_URL", "SPECD_CHAT_DATABASE_URL", "SPECD_CHAT_EXPORT_DIR",
               "SPECD_TRUSTED_PROXIES", "SPECD_PUBLIC_URL", "SPECD_BIND"}  # fmt: skip
    units = environment_of_units({})
    assert units.keys() >= several | {"SPECD_CHAT_SECRET_FILE", "SPECD_PAYMENT_SECRET_FILE"}
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secrets = {"SPECD_CHAT_SECRET_FILE": str(secret), "SPECD_PAYMENT_SECRET_FILE": str(secret)}
    given = {"POSTGRES_PASSWORD": "p", "SPECD_PUBLIC_URL": "https://pay.example", **secrets}
    for service in ("migrate-postgres", "serve-postgres", "worker-postgres"):
        found = environment_of_containers(service, given, {})
        assert found.keys() >= several | secrets.keys()
        Settings.from_env(found)
        for name in given:
            with pytest.raises(AssertionError, match=f"wants {name}"):
                environment_of_containers(service, {**given, name: ""}, {})


def wait_for_leader(database_url: str) -> str:
    deadline = time.monotonic() + SOON_S
    while (leader := leader_of(database_url, "chain_watcher:31337")) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return leader
