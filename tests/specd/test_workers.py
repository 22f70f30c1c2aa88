"""`every`: functions that the module `workers` of a service marks as background jobs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from specd import Settings
from specd._workers.jobs import find_workers
from specd._workers.loop import WorkerPool
from specd._workers.registry import map_to_services
from specd.db import Clock, Database
from specd.workers import Worker, WorkerContext, every

Context = WorkerContext[Settings]
TIMEOUT_S = 20.0


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    """A context whose database has a table of carts."""
    with closing(Database(f"sqlite:///{tmp_path}/shop.db")) as database:
        database.run(lambda session: session.execute(text("CREATE TABLE cart (id INTEGER)")))
        pool = WorkerPool()
        yield WorkerContext(Settings(data_dir=tmp_path), database, Clock(), pool)
        pool.stop()


def count_carts(context: Context) -> int:
    with context.database.reading() as reader:
        return int(reader.execute(text("SELECT count(*) FROM cart")).scalar_one())


def add_cart(session: Session) -> None:
    session.execute(text("INSERT INTO cart VALUES (1)"))


def module_of(*jobs: Callable[[Session], object], **more: object) -> ModuleType:
    module = ModuleType("shop.workers")
    for job in jobs:
        setattr(module, job.__name__, job)
    for name, value in more.items():
        setattr(module, name, value)
    return module


def run(context: Context, module: ModuleType, done: threading.Event) -> None:
    for make in find_workers(module).values():
        context.pool.start(make(context))
    assert done.wait(TIMEOUT_S), "the job did not run"
    context.pool.stop()


def test_function_is_a_worker_with_a_session_that_is_committed(context: Context) -> None:
    done = threading.Event()

    @every(seconds=3600)
    def fill_carts(session: Session) -> None:
        add_cart(session)
        Database.after_commit(session, done.set)

    (worker,) = (make(context) for make in find_workers(module_of(fill_carts)).values())
    assert (worker.name, worker.poll_s) == ("fill_carts", 3600.0)
    run(context, module_of(fill_carts), done)
    assert count_carts(context) == 1


def test_function_that_returns_true_runs_again_immediately(context: Context) -> None:
    done = threading.Event()
    batches = [True, True, False]

    @every(seconds=3600)
    def fill_carts(session: Session) -> bool:
        add_cart(session)
        more = batches.pop(0)
        if not more:
            Database.after_commit(session, done.set)
        return more

    run(context, module_of(fill_carts), done)
    assert count_carts(context) == 3


def test_function_that_raises_changes_nothing_and_runs_again(context: Context) -> None:
    done = threading.Event()
    failures = [ValueError("first")]

    @every(seconds=3600)
    def fill_carts(session: Session) -> None:
        add_cart(session)
        if failures:
            raise failures.pop()
        Database.after_commit(session, done.set)

    run(context, module_of(fill_carts), done)
    assert count_carts(context) == 1


def test_function_can_be_called_in_a_test(context: Context) -> None:
    @every(seconds=60)
    def fill_carts(session: Session) -> str:
        add_cart(session)
        return "filled"

    assert context.database.run(fill_carts) == "filled"


def test_module_has_functions_and_workers_by_name() -> None:
    @every(seconds=1)
    def fill_carts(session: Session) -> None: ...

    def make(context: Context) -> Worker:
        return Worker("mail", lambda: False, poll_s=1.0)

    module = module_of(fill_carts, add_cart, WORKERS={"mail": make})
    assert sorted(find_workers(module)) == ["fill_carts", "mail"]
    with pytest.raises(ValueError, match=r"shop\.workers has two workers named fill_carts"):
        find_workers(module_of(fill_carts, WORKERS={"fill_carts": make}))


def test_one_worker_in_two_services_is_rejected() -> None:
    @every(seconds=1)
    def clean_up(session: Session) -> None: ...

    workers = find_workers(module_of(clean_up))
    assert map_to_services({"shop": workers, "till": {}}) == {"clean_up": "shop"}
    with pytest.raises(ValueError, match="shop and till both have a worker named clean_up"):
        map_to_services({"shop": workers, "till": workers})


@pytest.mark.parametrize("seconds", [0, -1])
def test_time_between_calls_must_be_positive(seconds: float) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        every(seconds=seconds)
