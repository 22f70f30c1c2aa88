"""Password attempts for one name: counted in the database, without locking out the owner."""

from collections.abc import Callable

import pytest
from sqlalchemy import select

from handlers.chat import sign_in
from models.chat.identity import attempts
from models.chat.identity.attempts import PER_NAME, PER_NETWORK, PER_PLACE, PERIOD, SignInAttempt
from models.chat.tables import AttemptCount, KnownPlace
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import KEYS, PASSWORD, Cast
from tests.support.frozen_clock import FrozenClock

HOME, CAFE = "198.51.100.7", "2001:db8:77::1"


class People:
    """Clients that sign in from any address."""

    def __init__(self, app: ChatApp, cast: Cast) -> None:
        self._client = ChatClient(app, "acme.example")
        self._cast = cast

    def sign_in(self, address: str, *, password: str = "wrong", name: str | None = None) -> int:
        """Return the status of the response."""
        form = {"username": name or self._cast.hamlet.email, "password": password}
        told = {"X-Forwarded-For": f"6.6.6.6, {address}"}
        return self._client.request("POST", "/fetch_api_key", form, headers=told).status_code

    def change_password(self, address: str, old: str, new: str) -> str:
        """Return the message of the response to Hamlet, who is signed in."""
        form = {"old_password": old, "new_password": new}
        told = {"X-Forwarded-For": address}
        hamlet = self._client.acting_as(self._cast.hamlet)
        answer = hamlet.request("PATCH", "/settings", form, headers=told).json()
        return str(answer["msg"])


@pytest.fixture
def people(
    chat_app_with: Callable[..., ChatApp], cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> People:
    # These tests do not depend on the cost of a hash, which would be computed a hundred times.
    monkeypatch.setattr(sign_in, "is_password", lambda password, *_: password == PASSWORD)
    return People(chat_app_with(rate_limits=True, chat_rate_limit_per_address=100_000), cast)


def use_up(database: Database, cast: Cast, clock: FrozenClock, places: int) -> int:
    """Use up the attempts of clients in `places` networks. Return the number of attempts."""
    tried = 0
    for number in range(places):
        network, place = f"10.{number}.0.0/24", f"10.{number}.0.9/32"
        attempt = SignInAttempt(cast.realm_id, cast.hamlet.email, place, network)
        for _ in range(PER_PLACE + 1):
            try:
                database.run(
                    lambda s, attempt=attempt: attempts.count_attempt(
                        s, KEYS.seal, attempt, now=clock.now()
                    )
                )
                tried += 1
            except attempts.AttemptsUsedUp:
                break
    return tried


def test_attempts_of_a_stranger_do_not_lock_out_the_owner(people: People) -> None:
    for _ in range(2):
        statuses = [people.sign_in("203.0.113.66") for _ in range(PER_PLACE + 3)]
        assert statuses[-3:] == [429] * 3
        assert people.sign_in(HOME, password=PASSWORD) == 200


def test_network_has_no_more_attempts_than_four_places(people: People) -> None:
    """An IPv6 network of 64 bits is one place, and one of 48 bits is one network."""
    tried = [people.sign_in(f"2001:db8:66::{n:x}") for n in range(1, PER_PLACE + 3)]
    assert tried == [401] * PER_PLACE + [429] * 2
    others = [people.sign_in(f"2001:db8:66:{n:x}::1") for n in range(1, PER_NETWORK + 3)]
    assert others == [401] * (PER_NETWORK - PER_PLACE) + [429] * (PER_PLACE + 2)
    assert people.sign_in(CAFE, password=PASSWORD) == 200


def test_attempts_from_many_networks_reach_the_limit_of_the_name(
    people: People, chat_database: Database, cast: Cast, clock: FrozenClock
) -> None:
    assert people.sign_in(HOME, password=PASSWORD) == 200
    clock.advance(seconds=PERIOD.total_seconds())
    assert use_up(chat_database, cast, clock, places=60) == PER_NAME
    # In a place where the owner has signed in before, only the limit of the place applies.
    assert people.sign_in(HOME, password=PASSWORD) == 200
    assert people.sign_in(CAFE, password=PASSWORD) == 429
    assert [people.sign_in(HOME) for _ in range(PER_PLACE + 1)] == [401] * PER_PLACE + [429]
    # The limit of the name refills evenly: one attempt every 18 seconds.
    clock.advance(seconds=PERIOD.total_seconds() / PER_NAME)
    assert people.sign_in(CAFE, password=PASSWORD) == 200


def test_correct_old_password_does_not_reset_attempts_of_others(people: People) -> None:
    """Only the attempts of the caller's place are reset, and a weak new password resets none."""
    assert [people.sign_in("203.0.113.66") for _ in range(PER_PLACE)] == [401] * PER_PLACE
    new = "the undiscovered country"
    assert people.change_password(HOME, PASSWORD, new) == ""
    assert people.sign_in("203.0.113.66") == 429
    weak = [people.change_password(HOME, new, "password") for _ in range(PER_PLACE + 1)]
    assert weak == ["New password is too weak!"] * PER_PLACE + [
        "You're making too many attempts! Try again in 360 seconds."
    ]


def test_attempts_for_unknown_names_are_counted_equally(people: People) -> None:
    for name in ("nobody@acme.example", "Hamlet@acme.example"):
        tried = [people.sign_in(HOME, name=name) for _ in range(PER_PLACE + 1)]
        assert tried == [401] * PER_PLACE + [429]
        assert people.sign_in(HOME, name=f" {name.upper()} ") == 429


def test_stored_attempts_contain_no_name_or_address(
    people: People, chat_database: Database, cast: Cast
) -> None:
    people.sign_in(HOME, password=PASSWORD)
    people.sign_in(CAFE)
    with chat_database.reading() as reader:
        rows = [*reader.execute(select(AttemptCount.__table__)).all()]
        rows += reader.execute(select(KnownPlace.__table__)).all()
    assert len(rows) == 5
    assert {len(row.key) for row in rows} == {64}
    assert cast.hamlet.email not in str(rows)
    assert "198.51" not in str(rows)
