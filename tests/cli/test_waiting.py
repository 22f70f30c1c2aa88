"""Commands wait for a database that starts later, for a limited time."""

import time

import pytest

from settings import Settings
from specd._cli import serve, waiting
from specd._cli.waiting import once_available
from specd.errors import DatabaseUnavailable
from tests.cli.runner import Specd
from tests.live.running_server import free_port
from wsgi import project

LATE = Settings(database_urls={"payment": "postgresql+psycopg://specd@127.0.0.1/payment"})


class Clock:
    """A clock that only pauses advance."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(waiting.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(waiting.time, "sleep", self.advance)

    def advance(self, seconds: float) -> None:
        self.now += seconds


def test_work_is_repeated_until_the_database_is_available(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)

    def work() -> str:
        if clock.now < 60:
            raise DatabaseUnavailable
        return "done"

    prepared: list[float] = []
    assert once_available(LATE, 600, work, lambda: prepared.append(clock.now)) == "done"
    assert 60 <= clock.now < 65
    assert prepared == [0.0], "must be prepared once, before the first pause"
    assert capsys.readouterr().err.count("Waiting for the database") == 1


@pytest.mark.parametrize(("wait_s", "tries"), [(0, 1), (10, 20)])
def test_wait_for_a_database_times_out(
    monkeypatch: pytest.MonkeyPatch, wait_s: float, tries: int
) -> None:
    clock, tried = Clock(monkeypatch), []

    def work() -> None:
        tried.append(clock.now)
        raise DatabaseUnavailable

    with pytest.raises(DatabaseUnavailable):
        once_available(LATE, wait_s, work)
    assert len(tried) == pytest.approx(tries, abs=1)
    assert clock.now <= wait_s


def test_sqlite_file_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def work() -> None:
        raise DatabaseUnavailable

    with pytest.raises(DatabaseUnavailable):
        once_available(Settings(), 600, work)
    assert clock.now == 0


@pytest.mark.parametrize("command", ["migrate", "serve", "worker"])
def test_each_command_of_a_unit_waits_and_reports_why(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for service in ("PAYMENT", "CHAT"):
        url = f"postgresql+psycopg://specd@127.0.0.1:{free_port()}/specd"
        monkeypatch.setenv(f"SPECD_{service}_DATABASE_URL", url)
    built: list[object] = []
    monkeypatch.setattr(serve, "_build", built.append)  # in another process (tests.live)
    began = time.monotonic()
    status, out, err = specd(command, "--wait", "0.8")
    assert (status, out) == (1, "")
    assert time.monotonic() - began >= 0.5
    first, last = err.splitlines()[0], err.splitlines()[-1]
    assert first.startswith("Waiting for the database: ")
    assert last.startswith("Error: The database cannot be used: ")
    assert "refused" in first
    assert "refused" in last
    assert built == ([project.names] if command == "serve" else [])
