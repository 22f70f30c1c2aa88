"""A PostgreSQL that disappears silently: every request ends within seconds, and the service
recovers soon after it is back.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx
import pytest
from psycopg import sql
from sqlalchemy import make_url

from demo.seed import METHOD_ID, seed
from specd._db.sockets import connect
from specd.db import Clock, Database
from tests.live.running_server import ROOT, RunningServer, free_port
from tests.support import warm
from tests.support.chat.people import SECRET, Cast
from tests.support.faulty_proxy import FaultyProxy
from tests.support.postgres import Copies

PROCESSES = 2
LINES = 2 * PROCESSES
"""Lines of the log in one outage: one for each process and database."""
HANGS_S = 20.0
"""No request takes longer.

The time limits of the service are shorter, but the load of the test shares the cores with the
server. A request that waits for the database would never end.
"""
PATIENCE_S = 60.0
WAITING = 20
"""More concurrent requests than a process has connections."""
END_ALL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
HEALTHY_S = 1.0
"""Most responses of /healthz arrive within this time, and all within five times as much.

Those that wait for an absent database would take longer.
"""
LONGEST_S = 60.0
"""A client here waits longer than any request may take."""
NO_TLS = False
"""Reading the certificates of authorities takes a client longer than many requests."""


@dataclass(frozen=True)
class Asked:
    """One request of the load."""

    what: str
    at: float
    seconds: float
    status: int
    retry_after: str | None


@dataclass
class Load:
    """Sends requests of each kind to both services, one after another, until it ends."""

    asks: dict[str, Callable[[httpx.Client, int], httpx.Response]]
    url: str
    answers: list[Asked] = field(default_factory=list)
    _more: Iterator[int] = field(default_factory=lambda: count(10**6))
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Load:
        for what in self.asks:
            thread = threading.Thread(target=self._go_on, args=(what,))
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _go_on(self, what: str) -> None:
        number = 0
        with httpx.Client(
            base_url=self.url, timeout=LONGEST_S, trust_env=False, verify=NO_TLS
        ) as client:
            while not self._over.wait(0.05):
                number += 1
                self._ask(client, what, number)

    def ask_once(self, what: str) -> None:
        """Send an additional request of a kind over a new connection."""
        with httpx.Client(
            base_url=self.url, timeout=LONGEST_S, trust_env=False, verify=NO_TLS
        ) as client:
            self._ask(client, what, next(self._more))

    def _ask(self, client: httpx.Client, what: str, number: int) -> None:
        at = time.monotonic()
        answer = self.asks[what](client, number)
        assert answer.status_code in (200, 201, 503), f"{what}: {answer.text}"
        seconds = time.monotonic() - at
        after = answer.headers.get("Retry-After")
        self.answers.append(Asked(what, at, seconds, answer.status_code, after))

    def until(self, holds: Callable[[], bool], seconds: float = PATIENCE_S) -> float:
        """Return the seconds until the condition is true."""
        since = time.monotonic()
        while not holds():
            assert time.monotonic() - since < seconds, self.newest()
            time.sleep(0.05)
        return time.monotonic() - since

    def within(self, since: float, until: float) -> list[Asked]:
        """Return the responses to requests that began after `since` and ended before `until`."""
        return [one for one in self.answers if since < one.at and one.at + one.seconds < until]

    def all_answered(self, since: float) -> bool:
        """Return whether each kind has a response to a request that began after `since`."""
        return {one.what for one in self.answers if one.at > since} == self.asks.keys()

    def newest(self) -> dict[str, int]:
        return {one.what: one.status for one in self.answers}

    def all_succeed(self, since: float = 0.0) -> bool:
        """Return whether the newest response of each kind to a request after `since` is a
        success.
        """
        newest = {one.what: one.status for one in self.answers if one.at > since}
        return newest.keys() == self.asks.keys() and all(s < 300 for s in newest.values())


@dataclass(frozen=True)
class Stage:
    proxy: FaultyProxy
    server: RunningServer
    load: Load
    urls: tuple[str, str]
    """The databases of payment and of chat, without the proxy."""

    def newest(self, what: str, since: float) -> int | None:
        """Return the status of the newest response of a kind to a request that began after
        `since`.
        """
        its = [one for one in self.load.answers if one.what == what and one.at > since]
        return its[-1].status if its else None

    def log_lines(self, event: str) -> int:
        return self.server.log.read_text().count(f'"{event}"')


@pytest.fixture
def urls(
    postgres_copies: Copies, chat_postgres_copies: tuple[Copies, Cast]
) -> Iterator[tuple[str, str]]:
    """Databases of payment and of chat whose connections a test may end."""
    with postgres_copies.unshared() as payment, chat_postgres_copies[0].unshared() as chat:
        yield payment, chat


@pytest.fixture
def stage(
    urls: tuple[str, str], chat_postgres_copies: tuple[Copies, Cast], tmp_path: Path
) -> Iterator[Stage]:
    postgres_url, chat_url = urls
    _, cast = chat_postgres_copies
    with closing(Database(postgres_url)) as database:
        now = Clock().now()
        key = database.run(lambda session: seed(session, stored=None, now=now)).key
    shop = {"Authorization": f"Bearer {key}"}
    person = httpx.BasicAuth(cast.hamlet.email, cast.hamlet.key)
    host = {"Host": cast.hamlet.host}

    def create(client: httpx.Client, number: int) -> httpx.Response:
        order = {"external_order_id": f"order-{number}", "attempt_no": 1, "amount": "1.5",
                 "payment_method_id": METHOD_ID}  # fmt: skip
        headers = {**shop, "Idempotency-Key": f"order-{number}-first"}
        return client.post("/v1/invoices", json=order, headers=headers)

    asks: dict[str, Callable[[httpx.Client, int], httpx.Response]] = {
        "list invoices": lambda client, _: client.get("/v1/invoices", headers=shop),
        "create an invoice": create,
        "who am I": lambda client, _: client.get("/api/v1/users/me", auth=person, headers=host),
        "say so": lambda client, number: client.post(
            "/api/v1/messages",
            data={"type": "direct", "to": f"[{cast.hamlet.id}]", "content": f"word {number}"},
            auth=person,
            headers=host,
        ),
        "/healthz": lambda client, _: client.get("/healthz"),
        "/readyz": lambda client, _: client.get("/readyz"),
    }
    with FaultyProxy(postgres_url) as proxy:
        settings = {
            "SPECD_PAYMENT_DATABASE_URL": proxy.url_of(postgres_url),
            "SPECD_CHAT_DATABASE_URL": proxy.url_of(chat_url),
            "SPECD_CHAT_SECRET": SECRET.decode(),
            "SPECD_WORKERS": str(PROCESSES),
            "SPECD_CHAIN_RPC_URLS": "31337=http://127.0.0.1:1",
        }
        with (
            RunningServer(tmp_path, settings, application="app") as server,
            Load(asks, server.url) as load,
        ):
            load.until(load.all_succeed)
            yield Stage(proxy, server, load, urls)


def administer(url: str, *statements: str) -> None:
    """Execute statements in a database. `{name}` is its name."""
    with connect(make_url(url), "administration") as connection:
        for statement in ("SET default_transaction_read_only = off", *statements):
            name = sql.Identifier(connection.info.dbname)
            connection.execute(sql.SQL(statement).format(name=name))


def check(stage: Stage, since: float) -> None:
    """Print the results of the requests, and check them."""
    answers = [one for one in stage.load.answers if one.at + one.seconds >= since]
    for what in stage.load.asks:
        its = [one for one in answers if one.what == what]
        refused = sum(one.status == 503 for one in its)
        longest = max((one.seconds for one in its), default=0.0)
        print(f"{what}: {len(its)} answers, {refused} of them 503, the slowest {longest:.2f} s")
    assert {one.status for one in answers} <= {200, 201, 503}
    slow = [one for one in answers if one.seconds > HANGS_S]
    assert not slow
    assert all(one.retry_after for one in answers if one.status == 503 and one.what[0] != "/")
    healthy = sorted(one.seconds for one in answers if one.what == "/healthz")
    assert healthy[len(healthy) * 9 // 10] < HEALTHY_S
    assert healthy[-1] < 5 * HEALTHY_S


def await_news(stage: Stage) -> float:
    """Wait until each process has detected both outages and has responded once afterwards.

    Return the time of detection.
    """
    stage.load.until(lambda: stage.log_lines("database_unavailable") == LINES)
    known = time.monotonic()
    stage.load.until(lambda: stage.load.all_answered(known))
    return known


def test_connections_that_vanish(stage: Stage) -> None:
    since = time.monotonic()
    stage.proxy.vanish()
    # Some may succeed over new connections, until the heartbeat is missed.
    stage.load.until(lambda: stage.log_lines("database_available") == LINES)
    told = time.monotonic()
    took = stage.load.until(lambda: stage.load.all_succeed(told))
    print(f"normal again {time.monotonic() - since:.1f} s after the loss, {took:.1f} s of the word")
    check(stage, since)
    assert stage.log_lines("database_unavailable") == LINES


def test_a_black_hole(stage: Stage) -> None:
    since = time.monotonic()
    stage.proxy.swallow()
    stage.load.until(lambda: stage.newest("/readyz", since) == 503)
    print(f"/readyz knows after {time.monotonic() - since:.1f} s")
    known = await_news(stage)
    back = time.monotonic()
    stage.proxy.forward()
    took = stage.load.until(lambda: stage.load.all_succeed(back))
    print(f"normal again {took:.1f} s after the return")
    check(stage, since)
    late = stage.load.within(known, back)
    assert late
    assert all(one.status == 503 for one in late if one.what != "/healthz")
    assert stage.log_lines("database_unavailable") == LINES
    assert "Traceback" not in stage.server.log.read_text()


def test_a_node_that_takes_no_writes(stage: Stage) -> None:
    """As after a demotion, or if a host has made the database read-only because a disk is full.

    All connections are ended, and new ones reach a node that refuses to write.
    """
    since = time.monotonic()
    for url in stage.urls:
        administer(url, "ALTER DATABASE {name} SET default_transaction_read_only = on", END_ALL)
    stage.load.until(lambda: stage.newest("/readyz", since) == 503)
    print(f"/readyz knows after {time.monotonic() - since:.1f} s")
    known = await_news(stage)
    back = time.monotonic()
    for url in stage.urls:
        administer(url, "ALTER DATABASE {name} RESET default_transaction_read_only")
    took = stage.load.until(lambda: stage.load.all_succeed(back))
    print(f"normal again {took:.1f} s after the return")
    check(stage, since)
    late = stage.load.within(known, back)
    assert late
    assert all(one.status == 503 for one in late if one.what != "/healthz")
    assert stage.log_lines("database_unavailable") == LINES
    assert "Traceback" not in stage.server.log.read_text()


def test_all_connections_wait_for_a_lock(stage: Stage) -> None:
    """Requests of one service wait and are rejected in time.

    The database is available, so the probes report it, and the other service is unaffected.
    """
    payment, _ = stage.urls
    since = time.monotonic()
    asks = ["list invoices", "create an invoice"] * (WAITING // 2)
    with connect(make_url(payment), "lock") as connection, ThreadPoolExecutor(WAITING) as waiting:
        connection.execute("BEGIN")
        connection.execute("LOCK TABLE invoice IN ACCESS EXCLUSIVE MODE")
        list(waiting.map(stage.load.ask_once, asks))
        stage.load.until(lambda: stage.newest("list invoices", since) == 503)
    back = time.monotonic()
    took = stage.load.until(lambda: stage.load.all_succeed(back))
    print(f"normal again {took:.1f} s after the lock")
    check(stage, since)
    its = [one for one in stage.load.answers if one.at > since]
    assert {one.status for one in its if one.what in ("/readyz", "who am I", "say so")} == {200}
    assert any(one.status == 503 for one in its)
    assert stage.log_lines("database_unavailable") == 0


def test_a_server_that_starts_before_its_database(
    urls: tuple[str, str], chat_postgres_copies: tuple[Copies, Cast], tmp_path: Path
) -> None:
    port, (payment, chat) = free_port(), urls
    with FaultyProxy(payment) as proxy:
        env = {
            **{name: value for name, value in os.environ.items() if "SPECD_" not in name},
            "PYTHONPATH": str(ROOT),
            "SPECD_DATA_DIR": str(tmp_path),
            "SPECD_BIND": f"127.0.0.1:{port}",
            "SPECD_WORKERS": "1",
            "SPECD_PAYMENT_DATABASE_URL": proxy.url_of(payment),
            "SPECD_CHAT_DATABASE_URL": proxy.url_of(chat),
            "SPECD_CHAT_SECRET": SECRET.decode(),
        }
        proxy.swallow()
        with (tmp_path / "log").open("w+") as log:
            command = [sys.executable, "-m", "specd._cli.main", "serve"]
            process = warm.Popen(command, env=env, cwd="/", stdout=log, stderr=log)
            try:
                until(lambda: "Waiting for the database" in (tmp_path / "log").read_text())
                proxy.forward()
                back = time.monotonic()
                until(lambda: is_ready(port))
                print(f"ready {time.monotonic() - back:.1f} s after the return")
                httpx.get(f"http://127.0.0.1:{port}/docs", verify=NO_TLS)
                until(lambda: '"service":"pages"' in (tmp_path / "log").read_text())
                assert list((tmp_path / "metrics").glob("*.db")), "counters are shared"
            finally:
                process.terminate()
                process.wait(20)
    log = (tmp_path / "log").read_text()
    assert log.count("Waiting for the database") == 1
    assert "database_unavailable" not in log


def is_ready(port: int) -> bool:
    with suppress(httpx.TransportError):
        answer = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=2, verify=NO_TLS)
        return answer.status_code == 200
    return False


def until(holds: Callable[[], bool]) -> None:
    """Wait until the condition is true, for the return or start of a server on a busy machine."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
