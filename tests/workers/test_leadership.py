"""One of several processes is the leader, and a dead leader is replaced within 30 seconds."""

import threading

from sqlalchemy import select

from models.payment.tables import Lease
from specd.db import Database
from tests.support.frozen_clock import FrozenClock
from workers.leadership import Leadership


def holder(database: Database) -> str | None:
    with database.reading() as reader:
        return reader.execute(select(Lease.holder)).scalar_one_or_none()


def test_one_leads_and_the_other_waits(database: Database, clock: FrozenClock) -> None:
    first, second = (Leadership(database, clock, name="job") for _ in range(2))
    assert first.try_lead()
    assert not second.try_lead()
    assert holder(database) == first.holder


def test_different_jobs_have_different_leaders(database: Database, clock: FrozenClock) -> None:
    assert Leadership(database, clock, name="job").try_lead()
    assert Leadership(database, clock, name="other job").try_lead()


def test_a_leader_that_died_is_replaced_within_thirty_seconds(
    database: Database, clock: FrozenClock
) -> None:
    dead, heir = (Leadership(database, clock, name="job") for _ in range(2))
    assert dead.try_lead()
    clock.advance(seconds=11)
    assert not heir.try_lead()
    clock.advance(seconds=18)
    assert heir.try_lead()
    assert not dead.try_lead()


def test_a_working_leader_keeps_the_lease_for_ever(database: Database, clock: FrozenClock) -> None:
    leader, other = (Leadership(database, clock, name="job") for _ in range(2))
    for _ in range(120):
        assert leader.try_lead()
        assert not other.try_lead()
        clock.advance(seconds=1)


def test_giving_up_lets_the_next_one_lead_at_once(database: Database, clock: FrozenClock) -> None:
    first, second = (Leadership(database, clock, name="job") for _ in range(2))
    assert first.try_lead()
    first.release()
    assert second.try_lead()
    first.release()
    assert holder(database) == second.holder


def test_of_many_that_find_it_lapsed_at_once_one_leads(
    database: Database, clock: FrozenClock
) -> None:
    assert Leadership(database, clock, name="job").try_lead()
    clock.advance(seconds=60)
    heirs = [Leadership(database, clock, name="job") for _ in range(6)]
    together = threading.Barrier(len(heirs))
    leaders = []

    def try_lead(heir: Leadership) -> None:
        together.wait(10)
        if heir.try_lead():
            leaders.append(heir.holder)

    threads = [threading.Thread(target=try_lead, args=(heir,)) for heir in heirs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaders == [holder(database)]
