"""Heartbeats of workers: running workers are visible, and ended, failing or unstarted ones are
reported.
"""

import threading
import time
from collections.abc import Iterator

import pytest
import structlog
from sqlalchemy import Table

from settings import Settings
from specd._db.worker_heartbeats import find_heartbeats, record_heartbeats
from specd._workers import registry
from specd._workers.heartbeats import expect_workers, find_table, heartbeats_of
from specd._workers.loop import STUCK_S, WorkerPool
from specd.db import Database
from specd.workers import Worker
from tests.support.frozen_clock import FrozenClock
from workers.posting import Posting

TIMEOUT_S = 10.0


def ages(database: Database, table: Table, clock: FrozenClock) -> dict[str, int]:
    """Return the age of each worker's heartbeat in seconds."""
    with database.reading() as reader:
        return {
            name: int((clock.now() - seen_at).total_seconds())
            for name, seen_at in find_heartbeats(reader, table)
        }


@pytest.fixture
def table() -> Table:
    found = find_table("payment")
    assert found is not None
    return found


def test_each_service_with_workers_has_a_table() -> None:
    assert all(find_table(service) is not None for service in registry.SERVICES)


def test_worker_that_is_gone_is_missed(
    database: Database, clock: FrozenClock, table: Table
) -> None:
    expect_workers("payment", database, clock, ["one", "two", "never"])
    running = ["one", "two"]
    worker = heartbeats_of(table, database, clock, "payment", lambda: running)
    clock.advance(seconds=60)
    assert not worker.try_one()
    assert ages(database, table, clock) == {"one": 0, "two": 0, "never": 60}
    running.remove("two")
    clock.advance(seconds=60)
    worker.try_one()
    assert ages(database, table, clock) == {"one": 0, "two": 60, "never": 120}
    running.clear()
    assert not worker.try_one()


def test_workers_of_another_release_are_forgotten_and_the_others_kept(
    database: Database, clock: FrozenClock, table: Table
) -> None:
    expect_workers("payment", database, clock, ["old", "kept"])
    clock.advance(seconds=5)
    expect_workers("payment", database, clock, ["kept", "new"])
    assert ages(database, table, clock) == {"kept": 5, "new": 0}


def test_two_processes_share_a_row(database: Database, clock: FrozenClock, table: Table) -> None:
    for _ in range(2):
        database.run(lambda session: record_heartbeats(session, table, ["one"], clock.now()))
    assert ages(database, table, clock) == {"one": 0}


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    pool = WorkerPool()
    yield pool
    pool.stop()


def test_worker_is_failing_until_a_step_succeeds(pool: WorkerPool) -> None:
    tried, failed, ended = threading.Event(), threading.Event(), threading.Event()

    def step() -> bool:
        if not tried.is_set():
            tried.set()
            raise ValueError("once")
        failed.wait(TIMEOUT_S)
        return False

    def look() -> bool:
        if tried.is_set() and "one" in pool.failing:
            failed.set()
        if failed.is_set() and "one" not in pool.failing:
            ended.set()
        return False

    pool.start(Worker("one", step, poll_s=60))
    pool.start(Worker("look", look, poll_s=0.001))
    assert ended.wait(TIMEOUT_S)


def test_worker_that_hangs_is_missed_and_its_place_is_logged(pool: WorkerPool) -> None:
    """One thread hangs: of a worker, of a worker that it has started, or of its requests."""
    hang, entered, silent = threading.Event(), threading.Barrier(3), [0.0]

    def wait_for_nothing() -> bool:
        entered.wait(TIMEOUT_S)
        hang.wait(TIMEOUT_S)
        return False

    workers = [
        Worker("one", wait_for_nothing, poll_s=60, longest_s=-1.0),
        Worker("watcher:31337", wait_for_nothing, poll_s=60, longest_s=-1.0),
        Worker("posts", lambda: False, poll_s=60, silent_s=lambda: silent[0]),
        Worker("well", lambda: False, poll_s=60),
    ]
    try:
        with structlog.testing.capture_logs() as logged:
            pool = WorkerPool()
            for worker in workers:
                pool.start(worker)
            entered.wait(TIMEOUT_S)
            assert pool.notice_stuck() == {"one", "watcher"}
            silent[0] = STUCK_S + 1
            assert pool.notice_stuck() == {"one", "watcher", "posts"}
            names = ["one", "watcher", "posts", "well"]
            assert registry._find_running(names, pool) == ["well"]
        stuck = [line for line in logged if line["event"] == "worker_stuck"]
        assert [line["worker"] for line in stuck] == ["one", "watcher:31337", "posts"]
        assert "in wait_for_nothing" in stuck[0]["stack"]
    finally:
        hang.set()
        pool.stop()
    assert pool.notice_stuck() == set(), "a worker that has ended is not stuck"


def test_thread_of_requests_that_answers_is_not_silent() -> None:
    class Requests(Posting[threading.Event, None]):
        async def post(self, job: threading.Event) -> None:
            job.wait(TIMEOUT_S)  # blocks the event loop

        async def close_connections(self) -> None:
            pass

    posting, free = Requests("requests"), threading.Event()
    assert posting.silent_s() == 0
    posting.begin([free], lambda: None)
    assert posting.silent_s() == 0
    assert posting.silent_s() > 0
    free.set()
    posting.finish()
    ends_at = time.monotonic() + TIMEOUT_S
    while posting.silent_s():
        assert time.monotonic() < ends_at
    posting.close()


def test_migration_expects_each_worker(
    tmp_path_factory: pytest.TempPathFactory, clock: FrozenClock
) -> None:
    from specd._cli.migrate import migrate_all

    settings = Settings(data_dir=tmp_path_factory.mktemp("var"))
    migrate_all(settings)
    for service, workers in registry.SERVICES.items():
        database = Database(settings.database_urls[service])
        table = find_table(service)
        assert table is not None
        assert set(ages(database, table, clock)) == set(workers)
        database.dispose()
