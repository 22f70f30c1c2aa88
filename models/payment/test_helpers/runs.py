"""Runs of scenarios: queued by a request, executed by a worker, read by a request.

Each chain executes one run at a time, in the order of the requests, because a reorganization would
also remove payments of other runs. After its steps, a run waits for its messages in parallel with
other runs.
"""

import re
import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson
from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from models.payment import lifecycle
from models.payment.errors import OrderAttemptExists
from models.payment.invoice_view import InvoiceView
from models.payment.methods import MethodRow
from models.payment.tables import Event, Invoice, Project
from models.payment.test_helpers import faults
from models.payment.test_helpers.errors import (
    RunDoesNotExist,
    ScenarioDoesNotExist,
    TooFewConfirmations,
    TooManyRuns,
)
from models.payment.test_helpers.scenarios import CATALOGUE, MAY_COME, Scenario
from models.payment.test_helpers.tables import ScenarioRun
from models.payment.webhooks.deliveries import AttemptRow
from models.payment.webhooks.endpoints import ALL, ENABLED, Endpoint, list_endpoints
from models.payment.webhooks.outcomes import TAKEN, is_success
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery
from models.ranges import without_index
from models.rows import columns_of, read_row, read_rows
from specd.db import Db, UtcMs

QUEUED, RUNNING, DELIVERING, PASSED, FAILED = "queued", "running", "delivering", "passed", "failed"
MAX_UNFINISHED = 50
"""The maximum number of unfinished runs of one project."""
LONGEST_FAILURE = 500
LONGEST_ANSWER = 200


@dataclass(frozen=True, slots=True)
class Run:
    """A run in its current state."""

    id: str
    project_id: str
    scenario: str
    chain_id: int
    invoice_id: str
    state: str
    step: int
    step_began_at: datetime
    log: str
    failure: str | None
    next_invoice_id: str | None
    shop_url: str | None
    shop_answer: str | None
    created_at: datetime
    ended_at: datetime | None

    @property
    def entry(self) -> Scenario:
        """The entry of the catalog."""
        return CATALOGUE[self.scenario]

    @property
    def invoice_ids(self) -> list[str]:
        """The invoices of the run's events."""
        return [self.invoice_id, *([self.next_invoice_id] if self.next_invoice_id else [])]

    @property
    def done(self) -> list[dict[str, Any]]:
        """The results of the steps so far: `at` and `result` of each."""
        done: list[dict[str, Any]] = orjson.loads(self.log)
        return done


class EventOfRun(NamedTuple):
    """An event of an invoice of a run."""

    id: int
    type: str


class _Answer(NamedTuple):
    """The shop's report of its actions for an order. `returned` is in atoms."""

    fulfilled: int
    returned: int


_COLUMNS = columns_of(Run, ScenarioRun)
_attempt, _delivery = WebhookAttempt, WebhookDelivery


def find_scenario(name: str) -> Scenario:
    """Return the entry of the catalog. Raise `ScenarioDoesNotExist`."""
    if name not in CATALOGUE:
        raise ScenarioDoesNotExist()
    return CATALOGUE[name]


def check_method(scenario: Scenario, method: MethodRow) -> None:
    """Raise `TooFewConfirmations` if the scenario is impossible with the payment method."""
    if method.confirmations_required < scenario.least_confirmations:
        raise TooFewConfirmations(least=scenario.least_confirmations)


def start(
    session: Session,
    scenario: Scenario,
    *,
    project_id: str,
    invoice_id: str,
    chain_id: int,
    now: datetime,
    next_invoice_id: str | None = None,
    shop_url: str | None = None,
) -> Run:
    """Queue a run. `shop_url` must have been checked. Raise `TooManyRuns`."""
    session.execute(  # two simultaneous starts count each other
        select(Project.id).where(Project.id == project_id).with_for_update(key_share=True)
    )
    unfinished = select(func.count()).where(
        ScenarioRun.project_id == project_id, ScenarioRun.ended_at.is_(None)
    )
    if session.execute(unfinished).scalar_one() >= MAX_UNFINISHED:
        raise TooManyRuns(most=MAX_UNFINISHED)
    run_id = str(uuid.uuid4())
    session.add(
        ScenarioRun(
            id=run_id,
            project_id=project_id,
            scenario=scenario.name,
            chain_id=chain_id,
            invoice_id=invoice_id,
            next_invoice_id=next_invoice_id,
            shop_url=shop_url,
            state=QUEUED,
            step=0,
            step_began_at=now,
            log="[]",
            created_at=now,
        )
    )
    session.flush()
    return access_run(session, project_id=project_id, run_id=run_id)


def access_run(db: Db, *, project_id: str, run_id: str) -> Run:
    """Return the run. Raise `RunDoesNotExist` for an unknown id and another project's, alike."""
    query = select(*_COLUMNS).where(
        ScenarioRun.id == run_id.lower(), without_index(ScenarioRun.project_id) == project_id
    )
    run = read_row(Run, db.execute(query))
    if run is None:
        raise RunDoesNotExist()
    return run


def find_invoice_of_order(
    db: Db, *, project_id: str, external_order_id: str, attempt_no: int
) -> str | None:
    """Return the id of the invoice of an attempt at an order, or None if there is none."""
    query = select(Invoice.id).where(
        Invoice.project_id == project_id,
        Invoice.external_order_id == external_order_id,
        Invoice.attempt_no == attempt_no,
    )
    return db.execute(query).scalar()


def require_fresh(session: Session, invoice: InvoiceView) -> None:
    """Raise `OrderAttemptExists` unless an invoice is unpaid and has no payments and no run."""
    is_run = select(ScenarioRun.id).where(
        or_(ScenarioRun.invoice_id == invoice.id, ScenarioRun.next_invoice_id == invoice.id)
    )
    is_open = (invoice.status, invoice.exception) == (lifecycle.UNPAID, lifecycle.NONE)
    if not is_open or invoice.payments or session.execute(is_run.limit(1)).first():
        raise OrderAttemptExists(invoice_id=invoice.id)


def note_answer(session: Session, run: Run, answer: str) -> bool:
    """Record the shop's response."""
    return _change(session, run, shop_answer=answer[:LONGEST_ANSWER])


def find_mistake(run: Run, answer: str, *, amount: int) -> str | None:
    """Return the error in the shop's response as a sentence, or None if it is right."""
    told = _read_answer(answer)
    if told is None:
        return (
            'the shop did not respond with {"fulfilled": NUMBER, "returned": "ATOMS"}: '
            f"{answer[:200]}"
        )
    due = _Answer(run.entry.fulfilments, run.entry.to_return(amount))
    wrong = [
        f"{name} {got} instead of {wanted}"
        for name, got, wanted in zip(_Answer._fields, told, due, strict=True)
        if got != wanted
    ]
    return f"the shop reports {' and '.join(wrong)}" if wrong else None


def _read_answer(text: str) -> _Answer | None:
    try:
        told = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(told, dict):
        return None
    fulfilled, returned = told.get("fulfilled"), told.get("returned")
    if not isinstance(fulfilled, int) or isinstance(fulfilled, bool):
        return None
    if not isinstance(returned, str) or not re.fullmatch("[0-9]{1,78}", returned):
        return None
    return _Answer(fulfilled, int(returned))


def find_to_do(db: Db, *, limit: int) -> list[Run]:
    """Return the runs that can continue: those that deliver, and the first one of each chain."""
    query = select(*_COLUMNS).where(ScenarioRun.ended_at.is_(None)).order_by(ScenarioRun.number)
    found: list[Run] = []
    taken: set[int] = set()
    for run in read_rows(Run, db.execute(query.limit(limit))):
        if run.state != DELIVERING and run.chain_id in taken:
            continue
        if run.state != DELIVERING:
            taken.add(run.chain_id)
        found.append(run)
    return found


def note_step(session: Session, run: Run, result: str, *, now: datetime) -> bool:
    """Record that the run's next step is done. Return False if another worker has
    changed the run.
    """
    step = run.step + 1
    done = [*run.done, {"at": UtcMs.to_ms(now), "result": result[:LONGEST_FAILURE]}]
    return _change(
        session,
        run,
        step=step,
        step_began_at=now,
        state=RUNNING if step < len(run.entry.steps) else DELIVERING,
        log=orjson.dumps(done).decode(),
    )


def begin(session: Session, run: Run, *, now: datetime) -> bool:
    """Start a queued run. Return False if another worker has changed the run."""
    return _change(session, run, state=RUNNING, step_began_at=now)


def end(session: Session, run: Run, failure: str | None, *, now: datetime) -> bool:
    """End the run. It has passed if `failure` is None."""
    text = None if failure is None else failure[:LONGEST_FAILURE]
    return _change(
        session, run, state=PASSED if failure is None else FAILED, failure=text, ended_at=now
    )


def events_of(db: Db, run: Run) -> list[EventOfRun]:
    """Return the events of the run's invoices, in order."""
    query = select(Event.id, Event.type).where(Event.invoice_id.in_(run.invoice_ids))
    return read_rows(EventOfRun, db.execute(query.order_by(Event.id)))


def find_receivers(db: Db, project_id: str, type_: str) -> list[Endpoint]:
    """Return the endpoints of a project that events of this type are posted to."""
    return [
        endpoint
        for endpoint in list_endpoints(db, project_id=project_id)
        if endpoint.status == ENABLED and {ALL, type_} & set(endpoint.event_types)
    ]


def find_missing(db: Db, run: Run) -> str | None:
    """Return which events are missing or unexpected compared with the catalog, or None."""
    told = Counter(event.type for event in events_of(db, run) if event.type not in MAY_COME)
    expected = Counter(run.entry.events)
    problems = [
        *(f"{n} x {type_} is missing" for type_, n in (expected - told).items()),
        *(f"{n} x {type_} is unexpected" for type_, n in (told - expected).items()),
    ]
    return ", ".join(problems) or None


def find_refusal(db: Db, run: Run) -> str | None:
    """Return the first attempt that an endpoint did not answer with 2xx, as a sentence, or None.
    Simulated failures are ignored.
    """
    ids = [event.id for event in events_of(db, run)]
    # Most deliveries succeed in the first attempt, so there is no attempt to look for.
    again = (_delivery.tried > 1) | (_delivery.outcome.is_distinct_from(TAKEN))
    tried = select(_delivery.endpoint_id).where(
        _delivery.event_id.in_(ids), _delivery.tried > 0, again
    )
    endpoints = set(db.execute(tried).scalars())
    if not endpoints:
        return None
    attempts = select(_attempt.endpoint_id, *columns_of(AttemptRow, _attempt)).where(
        _attempt.endpoint_id.in_(endpoints),
        _attempt.event_id.in_(ids),
        _attempt.at >= run.created_at,
    )
    for row in db.execute(attempts.order_by(_attempt.id)):
        if is_success(row.status_code) or row.failure == faults.SIMULATED:
            continue
        said = f"returned {row.status_code}" if row.status_code else f"failed ({row.failure})"
        return f"endpoint {row.endpoint_id} {said} for {row.event_type}: {row.answer[:200]}".rstrip(
            ": "
        )
    return None


def is_delivered(db: Db, run: Run) -> bool:
    """Return whether each endpoint has acknowledged each event of the run's invoices that it
    subscribes to. A delivery that waits for a redelivery does not count.
    """
    events = events_of(db, run)
    wanted = {
        (event.id, endpoint.id)
        for event in events
        for endpoint in find_receivers(db, run.project_id, event.type)
    }
    query = select(_delivery.event_id, _delivery.endpoint_id).where(
        _delivery.event_id.in_([event.id for event in events]),
        _delivery.outcome == TAKEN,
        _delivery.next_try_at.is_(None),
    )
    return wanted <= {(event_id, endpoint_id) for event_id, endpoint_id in db.execute(query)}


def _change(session: Session, run: Run, **values: Any) -> bool:
    """Change the row, unless the run has changed meanwhile."""
    changed = session.execute(
        update(ScenarioRun)
        .where(
            ScenarioRun.id == run.id,
            ScenarioRun.step == run.step,
            ScenarioRun.state == run.state,
        )
        .values(**values)
        .returning(ScenarioRun.id)
    )
    return changed.first() is not None
