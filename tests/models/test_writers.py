"""Revoking the rights of a writer waits until its unit of work ends.

On PostgreSQL only, because SQLite has one writer at a time.
"""

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from models.chat.accounts.administering import access_administered, grant
from models.chat.accounts.changes import change_role
from models.chat.accounts.deactivation import NOTHING, deactivate_user
from models.chat.identity.actors import authenticate, find_actor, find_writer
from models.chat.organization.realms import access_realm_by_id
from models.payment import keys
from specd.db import Database
from tests.support.chat.people import Cast
from tests.support.payment.factories import make_merchant

Work = Callable[[Session], object]

BLOCKED = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def order_of(database: Database, hold: Work, end: Work) -> list[str]:
    """Return the order of commits if `end` starts while the unit of `hold` is open."""
    order = []

    def try_to_end() -> None:
        database.run(end)
        order.append("ended")

    ending = threading.Thread(target=try_to_end)

    def write(session: Session) -> None:
        hold(session)
        ending.start()
        deadline = time.monotonic() + 20
        while ending.is_alive() and time.monotonic() < deadline:
            with database.reading() as reader:
                if reader.execute(BLOCKED).scalar_one():
                    break
        order.append("written")

    try:
        database.run(write)
    finally:
        ending.join(30)
    return order


@pytest.fixture
def patient(chat_postgres: tuple[str, Cast]) -> Iterator[Database]:
    database = Database(chat_postgres[0], lock_timeout_s=30)
    yield database
    database.dispose()


@pytest.fixture
def people(chat_postgres: tuple[str, Cast]) -> Cast:
    return chat_postgres[1]


def ends(people: Cast, now: datetime) -> dict[str, Work]:
    """Return units of work that revoke Hamlet's rights."""
    hamlet = people.hamlet

    def deactivate(session: Session) -> None:
        owner = find_actor(session, people.cordelia.id)
        assert owner is not None
        deactivate_user(session, owner, hamlet.id, NOTHING, now=now)

    def demote(session: Session) -> None:
        owner = find_actor(session, people.cordelia.id)
        assert owner is not None
        target = access_administered(session, owner, hamlet.id, bots=True, deactivated=True)
        change_role(session, target, 600, now=now)

    def withdraw(session: Session) -> None:
        realm = access_realm_by_id(session, people.realm_id)
        grant(session, realm, hamlet.email, {"can_create_users": False}, now=now)

    return {"deactivate": deactivate, "demote": demote, "withdraw": withdraw}


@pytest.mark.parametrize("end", ["deactivate", "demote", "withdraw"])
@pytest.mark.parametrize("by", ["key", "id"])
def test_revocation_waits_for_the_user(
    patient: Database, people: Cast, now: datetime, end: str, by: str
) -> None:
    hamlet = people.hamlet

    def hold(session: Session) -> None:
        if by == "key":
            authenticate(session, host=hamlet.host, email=hamlet.email, api_key=hamlet.key)
        else:
            assert find_writer(session, hamlet.id) is not None

    assert order_of(patient, hold, ends(people, now)[end]) == ["written", "ended"]


def test_two_writers_of_one_user_do_not_wait(patient: Database, people: Cast) -> None:
    hamlet = people.hamlet

    def hold(session: Session) -> None:
        authenticate(session, host=hamlet.host, email=hamlet.email, api_key=hamlet.key)

    assert order_of(patient, hold, hold) == ["ended", "written"]


def test_revocation_waits_for_the_payment_key(postgres_url: str, now: datetime) -> None:
    database = Database(postgres_url, lock_timeout_s=30)
    ada = database.run(lambda session: make_merchant(session, now=now))
    key_id = ada.key.split("_")[2]

    def hold(session: Session) -> None:
        assert keys.find_actor(session, ada.key) is not None

    def end(session: Session) -> None:
        keys.revoke_key(session, key_id=key_id, now=now)

    try:
        assert order_of(database, hold, end) == ["written", "ended"]
    finally:
        database.dispose()
