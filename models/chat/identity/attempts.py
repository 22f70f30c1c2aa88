"""Counts of attempts, shared by all machines: password attempts and requests to change an email.

Password attempts are limited for each name and place (an IP address), then for the name and the
network, then for the name. At a place where the owner of the name has signed in before, only the
limit of the place applies, because others could otherwise use up the owner's attempts. Names
without an account are counted too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Table, case, delete, literal, select, type_coerce
from sqlalchemy.orm import Session

from models.chat.tables import AttemptCount, KnownPlace
from models.types import MILLISECOND
from specd.db import Db, UtcMs, table_of, upsert

PERIOD = timedelta(minutes=30)
PER_PLACE, PER_NETWORK, PER_NAME = 5, 20, 100
COOKIES_PER_PLACE = 20

_counts = table_of(AttemptCount)
_places = table_of(KnownPlace)

Seal = Callable[[str], str]
"""Maps a text to 64 hex digits that cannot be computed without the server's secret."""


class AttemptsUsedUp(Exception):
    """There were too many attempts. `wait_s` is the number of whole seconds until the next attempt
    is accepted.
    """

    def __init__(self, wait_s: int) -> None:
        self.wait_s = wait_s
        super().__init__(f"the next attempt is accepted in {wait_s} s")


@dataclass(frozen=True, slots=True)
class Allowance:
    """The number of attempts in `period` that are permitted for `key`, a digest."""

    key: str
    attempts: int
    period: timedelta


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt to sign in: the name, the address and the network of the address."""

    realm_id: int
    name: str
    place: str
    network: str

    def allowances(self, seal: Seal) -> tuple[Allowance, ...]:
        """Return the allowances. The first is that of the place, which alone applies at a known
        place.
        """
        return (
            Allowance(seal(self._text("place", self.place)), PER_PLACE, PERIOD),
            Allowance(seal(self._text("network", self.network)), PER_NETWORK, PERIOD),
            Allowance(seal(self._text("name", "")), PER_NAME, PERIOD),
        )

    def known_place_key(self, seal: Seal) -> str:
        return seal(self._text("known", self.place))

    def _text(self, kind: str, where: str) -> str:
        return f"sign-in {kind} {self.realm_id} {where} {self.name.strip().casefold()}"


def count_attempt(session: Session, seal: Seal, attempt: SignInAttempt, *, now: datetime) -> None:
    """Count one attempt before the password is verified. Raise `AttemptsUsedUp`."""
    allowances = attempt.allowances(seal)
    is_known = find_known_place(session, seal, attempt) is not None
    take(session, allowances[:1] if is_known else allowances, now=now)


def find_known_place(db: Db, seal: Seal, attempt: SignInAttempt) -> str | None:
    """Return the key of the place if the owner of the name has signed in there before, or None."""
    key = attempt.known_place_key(seal)
    known = select(_places.c.key).where(_places.c.key == key)
    return None if db.execute(known).first() is None else key


def clear_attempts(session: Session, seal: Seal, attempt: SignInAttempt, *, now: datetime) -> None:
    """Delete the count of attempts from this place after a correct password, and store the place as
    known for the name.
    """
    give_back(session, attempt.allowances(seal)[0])
    _put(session, _places, {"key": attempt.known_place_key(seal), "last_at": now}, {"last_at": now})


def cookie_allowance(seal: Seal, realm_id: int, place: str) -> Allowance:
    """Return the allowance of a place for cookies without a valid session."""
    return Allowance(seal(f"session {realm_id} {place}"), COOKIES_PER_PLACE, PERIOD)


def give_back(session: Session, allowance: Allowance) -> None:
    """Delete the count of the allowance."""
    session.connection().execute(delete(_counts).where(_counts.c.key == allowance.key))


def take(
    session: Session, allowances: Sequence[Allowance], *, now: datetime, count: int = 1
) -> None:
    """Count `count` attempts against each allowance. Raise `AttemptsUsedUp`. The caller must then
    roll back the unit, so that a rejected attempt is not counted.
    """
    now_ms = UtcMs.to_ms(now)
    used_to = type_coerce(_counts.c.arrival_at, BigInteger)
    for allowance in allowances:
        if count > allowance.attempts:
            raise AttemptsUsedUp(ceil(allowance.period.total_seconds()))
        each = allowance.period / allowance.attempts
        step, step_ms = each * count, ceil(each / MILLISECOND) * count
        latest_ms = now_ms + ceil(each / MILLISECOND) * allowance.attempts
        following = case((used_to > now_ms, used_to), else_=now_ms) + step_ms
        is_counted = _put(
            session,
            _counts,
            {"key": allowance.key, "arrival_at": now + step},
            {"arrival_at": following},
            where=following <= latest_ms,
        )
        if not is_counted:
            current = select(used_to).where(_counts.c.key == allowance.key)
            used_ms = session.connection().execute(current).scalar_one_or_none() or now_ms
            raise AttemptsUsedUp(max(1, ceil((used_ms + step_ms - latest_ms) / 1000)))


def _put(
    session: Session,
    table: Table,
    row: dict[str, Any],
    changes: dict[str, Any],
    where: ColumnElement[bool] | None = None,
) -> bool:
    """Insert a row, or update the existing row if `where` is met. Return whether a row was
    written.
    """
    put = upsert(table).values(row)
    put = put.on_conflict_do_update(index_elements=["key"], set_=changes, where=where)
    return session.connection().execute(put.returning(literal(1))).first() is not None
