"""One round of a worker, as one unit of work: what has ended is written down, then what leaves next
is chosen. Nothing here waits for anybody but the database.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sqlalchemy.orm import Session

from models.payment.webhooks import outcomes, queue
from models.payment.webhooks.outcomes import Attempt
from models.payment.webhooks.queue import Message, Outlook
from models.payment.webhooks.tables import WebhookEndpoint


class Capacity(Protocol):
    """How much a worker can send at once. Made anew for each unit of work."""

    def under_way(self, endpoint_id: str) -> Collection[int]:
        """The events that are on their way to the endpoint."""
        ...

    def left(self, endpoint_id: str, *, is_failing: bool) -> int:
        """How many more messages may leave to it now."""
        ...

    def use(self, endpoint_id: str, count: int, *, is_failing: bool) -> None:
        """So many leave."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What a worker wants of a round: endpoints to look at, claims to keep, what has ended."""

    holder: str
    wanted: frozenset[str]
    kept: frozenset[str]
    ended: Sequence[Attempt]
    until: datetime
    soon: datetime
    """An endpoint whose next message is due before then is not given back."""


@dataclass(slots=True)
class Round:
    """What came of it. `held` are the endpoints that are the worker's until `Plan.until`, with the
    time when their next message is due where they were looked at; `failing` those whose last
    message was not taken; `unnoted` what could not be written down,
    because another worker is at the endpoint.
    """

    messages: list[Message] = field(default_factory=list)
    held: dict[str, datetime | None] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    unnoted: list[Attempt] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def play(session: Session, plan: Plan, room: Capacity, *, now: datetime) -> Round:
    """One round."""
    done = Round()
    if plan.kept:
        kept = queue.renew(session, plan.kept, holder=plan.holder, until=plan.until)
        done.held.update(dict.fromkeys(kept))
    names = {*plan.wanted, *(attempt.endpoint_id for attempt in plan.ended)}
    rows = queue.hold(session, names, holder=plan.holder, until=plan.until, now=now)
    notable = [attempt for attempt in plan.ended if attempt.endpoint_id in rows]
    done.unnoted = [attempt for attempt in plan.ended if attempt.endpoint_id not in rows]
    done.counts = outcomes.note_attempts(session, rows, notable, holder=plan.holder, now=now)
    mine = {name: row for name, row in rows.items() if row.claimed_by == plan.holder}
    queue.follow_log(session, mine.values(), now=now)
    just_ended = {(one.endpoint_id, one.event_id) for one in notable}
    outlooks = queue.look_out(session, mine, now=now)
    for name, row in mine.items():
        _choose(session, row, outlooks[name], room, plan, done, just_ended, now)
    done.messages = queue.add_secrets(session, done.messages, now=now)
    return done


def note(session: Session, holder: str, ended: Sequence[Attempt], *, now: datetime) -> Counter[str]:
    """Write down what has ended, and give back all claims of the holder's that it was about.

    Returns how many were taken, failed, given up.
    """
    names = {attempt.endpoint_id for attempt in ended}
    rows = queue.hold(session, names, holder=holder, until=now, now=now)
    notable = [attempt for attempt in ended if attempt.endpoint_id in rows]
    return outcomes.note_attempts(session, rows, notable, holder=holder, now=now)


def _choose(
    session: Session,
    row: WebhookEndpoint,
    outlook: Outlook,
    room: Capacity,
    plan: Plan,
    done: Round,
    just_ended: Collection[tuple[str, int]],
    now: datetime,
) -> None:
    """What leaves to one endpoint, and whether it is kept or given back."""
    is_failing = row.failing_since is not None
    if is_failing:
        done.failing.add(row.id)
    under_way = {one for one in room.under_way(row.id) if (row.id, one) not in just_ended}
    limit = room.left(row.id, is_failing=is_failing) if outlook.is_due else 0
    messages = queue.pick(session, row, under_way=under_way, limit=limit, now=now)
    room.use(row.id, len(messages), is_failing=is_failing)
    done.messages += messages
    due_at = outlook.next_due_at if queue.is_served(row) else None
    if row.paused_until is not None and due_at is not None:
        due_at = max(due_at, row.paused_until)
    if messages or under_way or (due_at is not None and due_at <= plan.soon):
        done.held[row.id] = due_at
        return
    row.claimed_by = row.claimed_until = None
