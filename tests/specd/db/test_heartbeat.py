"""An unresponsive PostgreSQL server neither blocks requests forever nor rejects them for long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from sqlalchemy import text

from specd._db import heartbeat
from specd._db.sockets import CONNECT_TIMEOUT_S
from specd.db import Database
from specd.errors import DatabaseUnavailable
from tests.support.faulty_proxy import FaultyProxy

LONGEST_S = 20.0


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[FaultyProxy]:
    with FaultyProxy(postgres_url) as proxy:
        yield proxy


@pytest.fixture
def distant(
    postgres_url: str, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    """A database behind the proxy, with a fast heartbeat."""
    monkeypatch.setattr(heartbeat, "BEAT_S", 0.05)
    monkeypatch.setattr(heartbeat, "ANSWER_S", 1.0)
    with closing(Database(proxy.url_of(postgres_url))) as database:
        database.watch()
        assert one(database) == 1
        yield database


def one(database: Database) -> object:
    with database.reading() as connection:
        return connection.execute(text("SELECT 1")).scalar_one()


def becomes(holds: Callable[[], bool]) -> bool:
    ends_at = time.monotonic() + LONGEST_S
    while not holds() and time.monotonic() < ends_at:
        time.sleep(0.01)
    return holds()


def test_unresponsive_server_ends_waiting_requests_and_rejects_new_ones(
    distant: Database, proxy: FaultyProxy
) -> None:
    proxy.swallow()
    with pytest.raises(DatabaseUnavailable):
        one(distant)
    assert becomes(lambda: distant.availability.is_silent)
    for use in (lambda: one(distant), distant.ping, lambda: distant.run(lambda _: None)):
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            use()
        assert time.monotonic() - began < CONNECT_TIMEOUT_S, "it must fail immediately"
    proxy.forward()
    assert becomes(lambda: not distant.availability.is_silent)
    assert one(distant) == 1
    distant.ping()


def test_vanished_connections_are_replaced(distant: Database, proxy: FaultyProxy) -> None:
    proxy.vanish()
    with pytest.raises(DatabaseUnavailable):
        one(distant)
    assert becomes(lambda: not distant.availability.is_silent)
    assert one(distant) == 1


def test_connection_in_use_is_replaced_after_all_were_cut(
    distant: Database, proxy: FaultyProxy
) -> None:
    with distant.reading() as connection:
        cut = connection.connection.driver_connection
        proxy.vanish()
        assert becomes(lambda: distant.availability.ended == 1)
    with distant.reading() as connection:
        assert connection.connection.driver_connection is not cut
        assert connection.execute(text("SELECT 1")).scalar_one() == 1


def test_connection_to_a_read_only_node_is_discarded(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        demote = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
        database.run(lambda session: session.execute(text(demote)))
        with pytest.raises(DatabaseUnavailable):
            database.run(lambda session: session.execute(text("CREATE TABLE after (n int)")))
        with pytest.raises(DatabaseUnavailable):
            database.ping()
        for change in ("CREATE TABLE after (n int)", "DROP TABLE after"):
            database.run(lambda session, change=change: session.execute(text(change)))


def test_write_in_a_read_is_a_bug(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        with pytest.raises(Exception, match="read-only") as caught, database.reading() as reader:
            reader.execute(text("CREATE TABLE nothing (n int)"))
        assert not isinstance(caught.value, DatabaseUnavailable)
        assert not database.availability.is_failing


def test_probes_do_not_wait_for_requests(postgres_url: str) -> None:
    with (
        closing(Database(postgres_url, pool_size=1, lock_timeout_s=0.1)) as database,
        database.reading(),
    ):
        database.ping()


def test_sqlite_has_no_heartbeat(sqlite_url: str) -> None:
    with closing(Database(sqlite_url)) as database:
        before = threading.active_count()
        database.watch()
        assert threading.active_count() == before
