"""One round of a worker, as one unit of work: it records the attempts that have ended, and chooses
the messages to send next. It waits only for the database.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sqlalchemy.orm import Session

from models.payment.webhooks import fan_out, outcomes, queue
from models.payment.webhooks.endpoints import is_active
from models.payment.webhooks.outcomes import Attempt
from models.payment.webhooks.queue import Message, Schedule
from models.payment.webhooks.tables import WebhookEndpoint


class Capacity(Protocol):
    """How much a worker can send simultaneously. Created for each unit of work."""

    def under_way(self, endpoint_id: str) -> Collection[int]:
        """Return the events that are being sent to the endpoint."""
        ...

    def left(self, endpoint_id: str, *, is_failing: bool) -> int:
        """Return how many more messages may be sent to the endpoint now."""
        ...

    def use(self, endpoint_id: str, count: int, *, is_failing: bool) -> None:
        """Count `count` messages as sent."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The input of a round: endpoints to claim, claims to renew, and attempts that have ended."""

    holder: str
    claimed: frozenset[str]
    renewed: frozenset[str]
    ended: Sequence[Attempt]
    until: datetime
    soon: datetime
    """An endpoint is kept if its next message is due before this time."""


@dataclass(slots=True)
class Round:
    """The result of a round.

    `claims` maps the endpoints that the worker claims until `Plan.until` to the time of their next
    message, which is unknown for claims that were only renewed. `failing` are the endpoints whose
    last attempt failed. `unrecorded` are attempts that could not be recorded because another worker
    has locked the endpoint.
    """

    messages: list[Message] = field(default_factory=list)
    claims: dict[str, datetime | None] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    unrecorded: list[Attempt] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def run(session: Session, plan: Plan, capacity: Capacity, *, now: datetime) -> Round:
    """Run one round and return its result."""
    result = Round()
    if plan.renewed:
        renewed = queue.renew(session, plan.renewed, holder=plan.holder, until=plan.until)
        result.claims.update(dict.fromkeys(renewed))
    ids = {*plan.claimed, *(attempt.endpoint_id for attempt in plan.ended)}
    rows = queue.claim(session, ids, holder=plan.holder, until=plan.until, now=now)
    result.unrecorded = [attempt for attempt in plan.ended if attempt.endpoint_id not in rows]
    result.counts = _record(session, rows, plan.ended, plan.holder, now)
    mine = {id_: row for id_, row in rows.items() if row.claimed_by == plan.holder}
    fan_out.advance(session, mine.values(), now=now)
    schedules = queue.find_schedules(session, mine, now=now)
    for id_, row in mine.items():
        _choose(session, row, schedules[id_], capacity, plan, result, now)
    result.messages = queue.add_secrets(session, result.messages, now=now)
    return result


def record(
    session: Session, holder: str, ended: Sequence[Attempt], *, now: datetime
) -> Counter[str]:
    """Record attempts, and expire the holder's claims of their endpoints.

    Return how many were taken, failed or given up.
    """
    ids = {attempt.endpoint_id for attempt in ended}
    rows = queue.claim(session, ids, holder=holder, until=now, now=now)
    return _record(session, rows, ended, holder, now)


def _record(
    session: Session,
    rows: Mapping[str, WebhookEndpoint],
    ended: Sequence[Attempt],
    holder: str,
    now: datetime,
) -> Counter[str]:
    locked = [attempt for attempt in ended if attempt.endpoint_id in rows]
    return outcomes.record_attempts(session, rows, locked, holder=holder, now=now)


def _choose(
    session: Session,
    row: WebhookEndpoint,
    schedule: Schedule,
    capacity: Capacity,
    plan: Plan,
    result: Round,
    now: datetime,
) -> None:
    """Choose the messages to send to one endpoint, and keep or release its claim."""
    is_failing = row.failing_since is not None
    if is_failing:
        result.failing.add(row.id)
    just_ended = {attempt.event_id for attempt in plan.ended if attempt.endpoint_id == row.id}
    under_way = {*capacity.under_way(row.id)} - just_ended
    limit = capacity.left(row.id, is_failing=is_failing) if schedule.is_due else 0
    messages = queue.pick(session, row, under_way=under_way, limit=limit, now=now)
    capacity.use(row.id, len(messages), is_failing=is_failing)
    result.messages += messages
    due_at = schedule.next_due_at if is_active(row) else None
    if row.paused_until is not None and due_at is not None:
        due_at = max(due_at, row.paused_until)
    if messages or under_way or (due_at is not None and due_at <= plan.soon):
        result.claims[row.id] = due_at
        return
    row.claimed_by = row.claimed_until = None
