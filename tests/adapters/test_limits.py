"""Several machines count requests together in a store, and separately during an outage."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from settings import Settings
from specd import RateLimiter
from specd._cli.diagnosis import diagnose_limits
from specd._engine import rate_limit
from specd._engine.rate_limit import BATCHES, Limit, SharedTable
from specd._limits.wiring import open_limit_store
from specd.db import Database
from specd.errors import RateLimited, SettingsError
from tests.support.app import ServiceApp
from tests.support.chat.app import ChatApp
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import make_merchant
from tests.support.redis_server import PATIENCE_S, RedisServer

SECRET = "a secret of thirty-two characters, at least"
PASSWORD = "hush-hush"
MACHINES = 3
TOLERANCE = 0.1
LIMITS = [60, 200, 600]
SLACK_S = 2.0
"""For responses of a store on a busy machine."""


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.kill()


class Machine:
    """A rate limiter with its own table, which uses the store of all machines."""

    def __init__(
        self, folder: Path, url: str, limit: Limit, *, timeout_s: float | None = SLACK_S
    ) -> None:
        folder.mkdir(exist_ok=True)
        settings = Settings(data_dir=folder, limits_url=url)
        store = open_limit_store(settings, "payment", SECRET.encode, timeout_s=timeout_s)
        assert store is not None
        self._store, self._table, self.batches = store, SharedTable(folder / "limits"), 0
        self._limiter = RateLimiter(
            self._table,
            limits={"client": limit},
            counted=lambda ctx: [("client", ctx.client)],
            store=self,
        )

    def take(self, client: str, **wanted: Any) -> tuple[int, float] | None:
        self.batches += 1
        return self._store.take(client, **wanted)

    def serves(self, client: str = "ada") -> bool:
        """Return whether a request of a client is served now."""
        now = SimpleNamespace(timestamp=time.time)
        try:
            self._limiter.take(SimpleNamespace(client=client, now=now))  # type: ignore[arg-type]
        except RateLimited:
            return False
        return True

    def close(self) -> None:
        self._store.close()
        self._table.close()


Machines = Callable[..., list[Machine]]


@pytest.fixture
def machines(tmp_path: Path, redis_server: RedisServer) -> Iterator[Machines]:
    made: list[Machine] = []

    def make(limit: Limit, number: int = MACHINES, **options: Any) -> list[Machine]:
        found = [
            Machine(tmp_path / f"machine {n}", redis_server.url, limit, **options)
            for n in range(number)
        ]
        made.extend(found)
        return found

    yield make
    for machine in made:
        machine.close()


class TestCount:
    @pytest.mark.parametrize("order", ["by turns", "one after another", "at random"])
    @pytest.mark.parametrize("most", LIMITS)
    def test_machines_together_serve_as_many_as_one(
        self, machines: Machines, most: int, order: str
    ) -> None:
        limit = Limit(most, 60.0)
        several = machines(limit)
        asked = [machine for _ in range(most) for machine in several]
        if order == "one after another":
            # The first requests leave the remainder of a batch on each machine.
            asked = several + sorted(asked, key=several.index)
        elif order == "at random":
            random.Random(most).shuffle(asked)
        began = time.monotonic()
        served = sum(machine.serves() for machine in asked)
        refilled = (time.monotonic() - began) / limit.step_s
        assert most * (1 - TOLERANCE) <= served <= most * (1 + TOLERANCE) + refilled
        batches = sum(machine.batches for machine in several)
        # A batch for every thirtieth request, and a query for each request that returns meanwhile.
        assert batches <= most / limit.batch + MACHINES * (2 + refilled)

    def test_machines_together_serve_the_rate(self, machines: Machines) -> None:
        """Far more is requested than allowed, for more than the period."""
        limit = Limit(120, 0.6)
        several = machines(limit)
        served, began = 0, time.monotonic()
        while time.monotonic() - began < 2 * limit.period_s:
            served += sum(machine.serves() for machine in several)
        allowed = limit.requests + (time.monotonic() - began) / limit.step_s
        assert allowed * (1 - TOLERANCE) <= served <= allowed * (1 + TOLERANCE)

    def test_processes_of_a_machine_share_a_batch(
        self, tmp_path: Path, redis_server: RedisServer
    ) -> None:
        limit = Limit(600, 60.0)
        processes = [Machine(tmp_path / "one", redis_server.url, limit) for _ in range(2)]
        assert limit.batch == 600 // BATCHES == 20
        assert all(process.serves() for _ in range(10) for process in processes)
        assert sum(process.batches for process in processes) == 1
        for process in processes:
            process.close()

    def test_clients_are_counted_separately(self, machines: Machines) -> None:
        several = machines(Limit(1, 60.0))
        assert [machine.serves("ada") for machine in several] == [True, False, False]
        assert [machine.serves("ben") for machine in several] == [True, False, False]

    def test_flooded_table_does_not_fill_the_store(
        self, machines: Machines, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rate_limit, "_BUCKETS", 1)
        (machine,) = machines(Limit(60, 60.0), 1)
        served = [machine.serves(f"client {number}") for number in range(300)]
        assert 60 <= sum(served) < 100
        assert len(keys_in(redis_server)) == rate_limit._PLACES + 1

    def test_store_contains_no_names_and_all_keys_expire(
        self, machines: Machines, redis_server: RedisServer
    ) -> None:
        (machine,) = machines(Limit(60, 60.0), 1)
        for number in range(50):
            assert machine.serves(f"ada{number}@acme.example")
        found = keys_in(redis_server)
        assert len(found) == 50
        for name, (lasts_ms, size) in found.items():
            assert b"acme" not in name
            assert 0 < lasts_ms <= 2_000  # a batch of two
            assert size <= 150


def keys_in(server: RedisServer) -> dict[bytes, tuple[int, int]]:
    """Return the time to live in milliseconds and the bytes of each key in the store."""
    redis = pytest.importorskip("redis")
    with redis.Redis.from_url(server.url) as client:
        return {name: (client.pttl(name), client.memory_usage(name)) for name in client.scan_iter()}


class TestOutage:
    @pytest.mark.parametrize("fault", ["killed", "hung"])
    def test_machine_counts_separately_and_returns_to_the_store(
        self, machines: Machines, redis_server: RedisServer, fault: str
    ) -> None:
        limit = Limit(60, 60.0)
        first, second = machines(limit, 2, timeout_s=0.05)
        assert first.serves("ada")
        with capture_logs() as logs:
            (redis_server.kill if fault == "killed" else redis_server.hang)()
            began = time.monotonic()
            served = [sum(m.serves("ben") for _ in range(100)) for m in (first, second)]
            took = time.monotonic() - began
            assert all(60 <= number <= 60 + took + 1 for number in served)
            # Each process waits for the store once, and then once a second.
            assert took < SLACK_S
            (redis_server.start if fault == "killed" else redis_server.go_on)()
            until = time.monotonic() + PATIENCE_S
            number = 0
            while sum(log["event"] == "limit_store_available" for log in logs) < 2:
                assert time.monotonic() < until
                number += 1
                first.serves(f"client {number}")
                second.serves(f"client {number}")
                time.sleep(0.02)
        assert sorted(log["event"] for log in logs) == [
            *["limit_store_available"] * 2,
            *["limit_store_unavailable"] * 2,
        ]
        # They count together again.
        served_now = sum(machine.serves("cleo") for _ in range(60) for machine in (first, second))
        assert 60 * (1 - TOLERANCE) <= served_now <= 60 * (1 + TOLERANCE)

    def test_rejected_password_is_an_outage_and_not_logged(self, tmp_path: Path) -> None:
        server = RedisServer(tmp_path, password=PASSWORD)
        try:
            for password, is_right in ((PASSWORD, True), (f"{PASSWORD}-wrong", False)):
                url = server.url.replace("://", f"://:{password}@")
                with capture_logs() as logs:
                    machine = Machine(tmp_path / password, url, Limit(60, 60.0))
                    assert machine.serves()
                    machine.close()
                assert len(logs) == (0 if is_right else 1)
                (finding,) = diagnose_limits(Settings(data_dir=tmp_path, limits_url=url))
                assert finding.state == ("ok" if is_right else "broken")
                assert PASSWORD not in f"{logs}{finding}"
        finally:
            server.kill()


class TestSetting:
    @pytest.mark.parametrize(
        "url",
        [
            "memcached://127.0.0.1", "redis://", "redis:///0", "redis://cache:port",
            "redis://cache:0", "redis://cache/name", "redis://cache?db=1", "redis://ca che",
            f"redis://:{PASSWORD}@", f"redis://:{PASSWORD}#@cache",
        ],
    )  # fmt: skip
    def test_invalid_url_is_rejected(self, url: str) -> None:
        with pytest.raises(SettingsError, match="SPECD_LIMITS_URL must be redis://") as refused:
            Settings.from_env({"SPECD_LIMITS_URL": url})
        assert PASSWORD not in str(refused.value)

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("redis://cache.internal:6379/0", "redis://cache.internal:6379/0"),
            (f"redis://:{PASSWORD}@cache", "redis://:***@cache"),
            (f"rediss://specd:{PASSWORD}@cache:6380/1", "rediss://specd:***@cache:6380/1"),
        ],
    )
    def test_password_is_never_shown(self, url: str, shown: str) -> None:
        env = {"SPECD_LIMITS_URL": url}
        settings = Settings.from_env(env)
        assert settings.limits_url == url
        described = {line.variable: line.value for line in settings.describe(env)}
        assert described["SPECD_LIMITS_URL"] == shown
        assert PASSWORD not in repr(settings)

    def test_no_store_without_the_setting(self, tmp_path: Path) -> None:
        settings = Settings(data_dir=tmp_path)
        assert open_limit_store(settings, "chat", bytes) is None
        assert list(diagnose_limits(settings)) == []

    def test_doctor_checks_the_store(self, tmp_path: Path, redis_server: RedisServer) -> None:
        settings = Settings(data_dir=tmp_path, limits_url=redis_server.url)
        (found,) = diagnose_limits(settings)
        assert (found.check, found.state) == ("limits", "ok")
        assert found.detail.startswith(("Redis ", "Valkey "))
        assert keys_in(redis_server) == {}
        redis_server.kill()
        (found,) = diagnose_limits(settings)
        assert found.state == "broken"
        assert "check SPECD_LIMITS_URL" in found.detail


class TestServices:
    """Three machines with separate folders share a database and a store."""

    MOST = 60

    @pytest.mark.parametrize("service", ["payment", "chat"])
    def test_client_has_one_limit(
        self,
        service: str,
        request: pytest.FixtureRequest,
        clock: FrozenClock,
        chain: FakeGateway,
        tmp_path: Path,
        redis_server: RedisServer,
    ) -> None:
        apps: list[ServiceApp]
        common: dict[str, Any] = {"rate_limits": True, "limits_url": redis_server.url}
        folders = [tmp_path / f"machine {number}" for number in range(2)]
        if service == "payment":
            database = Database(request.getfixturevalue("sqlite_url"))
            key = database.run(lambda session: make_merchant(session, now=clock.now())).key
            headers = {"Authorization": f"Bearer {key}"}
            url = "http://pay.example/v1/payment-methods"
            common |= {"rate_limit_per_minute": self.MOST, "payment_secret": SECRET}
            apps = [
                PaymentApp(database, clock, chain, data_dir=folder, **common) for folder in folders
            ]
        else:
            chat_url, cast = request.getfixturevalue("chat_sqlite")
            database = Database(chat_url)
            headers = {
                "Authorization": httpx.BasicAuth(cast.hamlet.email, cast.hamlet.key)._auth_header
            }
            url = "http://acme.example/api/v1/users/me"
            common |= {"chat_rate_limit_per_user": self.MOST, "chat_secret": SECRET}
            apps = [ChatApp(database, clock, folder, **common) for folder in folders]
        try:
            asked = httpx.Request("GET", url, headers=headers)
            began = time.monotonic()
            answers = [app.send(asked)[0].status_code for _ in range(self.MOST) for app in apps]
            refilled = (time.monotonic() - began) * self.MOST / 60
        finally:
            for app in apps:
                app.close()
            database.dispose()
        assert set(answers) == {200, 429}
        least, most = self.MOST * (1 - TOLERANCE), self.MOST * (1 + TOLERANCE) + refilled
        assert least <= answers.count(200) <= most
