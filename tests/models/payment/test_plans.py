"""Lists and workers of the payment service use the same indexes whatever is stored.

One merchant owns nearly all rows. With and without statistics in the database.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url
from sqlalchemy.orm import Session

from models.payment import checkpoints, event_list, expiry, keys, methods, receivers, settlement
from models.payment import receipts as receipt_list
from models.payment import watching as watched
from models.payment.checkpoints import BlockMark
from models.payment.cursors import Position, write_cursor
from models.payment.event_list import EventFilter
from models.payment.invoice_list import InvoiceFilter, list_invoices
from models.payment.lifecycle import EXPIRED, LATE, OVER, PAID, UNPAID
from models.payment.receipts import ReceiptFilter
from models.payment.retention import RULES
from models.payment.webhooks import backlog, deliveries, endpoints, fan_out, outcomes, queue
from models.payment.webhooks.outcomes import Attempt, Reply
from specd.db import Database, Rule, UtcMs
from tests.models.payment.crowded import (
    ENDPOINT,
    INVOICE,
    INVOICES,
    LARGE_ORDER,
    OTHER_ENDPOINT,
    OTHER_INVOICE,
    fill,
)
from tests.support.payment.factories import ADA_XPUB, BEN_XPUB, CHAIN_ID, make_hash, make_merchant
from tests.support.plans import STATISTICS, analyze, watching
from tests.support.postgres import Copies, PostgresServer

HOLDER = "worker"
DIALECTS = ("sqlite", "postgresql")
XPUBS = (ADA_XPUB, BEN_XPUB)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SMALL = {"chain_head(*)", "chain_head(chain_id)", "payment_method(*)", "project(*)", "project(id)"}
"""One row for each chain and a few for each merchant, so no index is worth its cost."""

BY_AGE = "invoice(project_id, created_at, id)"
BY_STATUS = "invoice(project_id, status, created_at, id)"
BY_ADDRESS = "invoice(project_id, deposit_address, created_at, id)"
BY_EXCEPTION = "invoice(project_id, exception, created_at, id)"
BY_METHOD = "invoice(project_id, payment_method_id, status, created_at, id)"
BY_CHANGE = "invoice(project_id, status, updated_at, id)"
CHANGED_BY_EXCEPTION = "invoice(project_id, exception, updated_at, id)"
BY_ORDER = "invoice(project_id, external_order_id, created_at, id)"
UNIQUE_IN_ORDER = "invoice(project_id, external_order_id, attempt_no)"
ANY_OF_INVOICES = {"payment(invoice_id)", "invoice(id)"}
"""The payments of a page are counted, and its invoices are read."""
THE_INVOICE = {"invoice(id)", "payment(invoice_id)", "payment(id)"}
RECEIPTS = {"payment(project_id, detected_at, id)", "payment(id)", "invoice(id)"}
LOG = "event(project_id, id)"
DUE = "webhook_delivery(endpoint_id, next_try_at)"
OPEN = "webhook_delivery(endpoint_id, invoice_id, event_id)"
SERVED = "webhook_endpoint(deleted_at)"
THE_ENDPOINT = "webhook_endpoint(id)"
PAIRS = [(ENDPOINT, INVOICE), (OTHER_ENDPOINT, OTHER_INVOICE)]


@dataclass(frozen=True)
class Stage:
    """A crowded database. `is_known` means that it has statistics."""

    database: Database
    ada: str
    ben: str
    now: datetime
    is_known: bool


class _Undone(Exception):
    pass


@dataclass(frozen=True)
class Crowd:
    """A filled database to copy: a file, or a database's name."""

    template: str
    ada: str
    ben: str


def _fill(url: str, template: str) -> Crowd:
    with closing(Database(url)) as database:
        ada, ben = (database.run(partial(make_merchant, now=NOW, xpub=x)) for x in XPUBS)
        fill(database, ada.id, ben.id, NOW)
    return Crowd(template, ada.id, ben.id)


@pytest.fixture(scope="session")
def crowd_on_sqlite(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Crowd:
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("crowd") / "crowd.db")
    return _fill(f"sqlite:///{path}", str(path))


@pytest.fixture(scope="session")
def crowd_on_postgresql(postgres_copies: Copies) -> Iterator[Crowd]:
    with postgres_copies.unshared() as url:
        yield _fill(url, str(make_url(url).database))


@pytest.fixture(
    scope="session", params=[(d, s) for d in DIALECTS for s in STATISTICS], ids="-".join
)
def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """Fill a database once for all tests, which do not change it."""
    dialect, statistics = request.param
    crowd: Crowd = request.getfixturevalue(f"crowd_on_{dialect}")
    if dialect == "sqlite":
        path = shutil.copy(crowd.template, tmp_path_factory.mktemp("crowded") / "crowded.db")
        copy: AbstractContextManager[str] = nullcontext(f"sqlite:///{path}")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        copy = server.copied(crowd.template)
    with copy as url, closing(Database(url)) as database:
        if statistics == "fresh":
            analyze(database)
        yield Stage(database, crowd.ada, crowd.ben, NOW, statistics == "fresh")


Work = Callable[[Stage, Any], object]


def invoices(*, after: bool = False, of_ben: bool = False, **filters: Any) -> Work:
    def work(stage: Stage, db: Any) -> object:
        wanted = InvoiceFilter(stage.ben if of_ben else stage.ada, **filters)
        place = Position(UtcMs.to_ms(stage.now - timedelta(days=28)), INVOICE)
        cursor = write_cursor(place, wanted.fingerprint) if after else None
        return list_invoices(db, wanted, cursor=cursor, limit=20, now=stage.now)

    return work


def events(*, after: int = 1, of_ben: bool = False, **filters: Any) -> Work:
    return lambda stage, db: event_list.list_events(
        db, EventFilter(stage.ben if of_ben else stage.ada, **filters), after=after, limit=20
    )


def receipts(*, after: bool = False, of_ben: bool = False, **filters: Any) -> Work:
    def work(stage: Stage, db: Any) -> object:
        wanted = ReceiptFilter(stage.ben if of_ben else stage.ada, **filters)
        place = receipt_list.Position(UtcMs.to_ms(stage.now - timedelta(days=28)), 1)
        return receipt_list.list_receipts(db, wanted, after=place if after else None, limit=20)

    return work


def attempts(before: int | None) -> Work:
    return lambda stage, db: deliveries.list_attempts(
        db, project_id=stage.ada, endpoint_id=ENDPOINT, before=before, limit=20
    )


SEVERAL = frozenset({PAID, EXPIRED})
OF_METHOD = {"payment_method_id": "tusd-local"}
OLDEST = {"is_ascending": True}
CHANGED = {"updated_from": UtcMs.to_ms(NOW - timedelta(days=29)), "is_ascending": True}
SOME_TIME = {"created_from": 1, "created_to": 2**41}
LISTS: Mapping[str, tuple[Work, set[str]]] = {
    "invoices": (invoices(), {BY_AGE, *ANY_OF_INVOICES}),
    "invoices, further": (invoices(after=True), {BY_AGE, *ANY_OF_INVOICES}),
    "invoices of a small shop": (invoices(of_ben=True), {BY_AGE, *ANY_OF_INVOICES}),
    "invoices of some time": (invoices(**SOME_TIME), {BY_AGE, *ANY_OF_INVOICES}),
    "paid": (invoices(statuses=frozenset({PAID})), {BY_STATUS, *ANY_OF_INVOICES}),
    "paid, further": (
        invoices(statuses=frozenset({PAID}), after=True),
        {BY_STATUS, *ANY_OF_INVOICES},
    ),
    "unpaid": (
        invoices(statuses=frozenset({UNPAID}), **SOME_TIME),
        {BY_STATUS, *ANY_OF_INVOICES},
    ),
    "paid and expired": (invoices(statuses=SEVERAL), {BY_STATUS, *ANY_OF_INVOICES}),
    "an order": (invoices(external_order_id="order-5000"), {BY_ORDER, *ANY_OF_INVOICES}),
    "a large order": (invoices(external_order_id=LARGE_ORDER), {BY_ORDER, *ANY_OF_INVOICES}),
    "a large order, some time": (
        invoices(external_order_id=LARGE_ORDER, **SOME_TIME),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "a large order, paid": (
        invoices(external_order_id=LARGE_ORDER, statuses=frozenset({PAID})),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "a large order, paid, further": (
        invoices(external_order_id=LARGE_ORDER, statuses=frozenset({PAID}), after=True),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "a large order, paid and expired": (
        invoices(external_order_id=LARGE_ORDER, statuses=SEVERAL),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "an address": (
        invoices(deposit_address=f"0x{5000:040x}"),
        {BY_ADDRESS, *ANY_OF_INVOICES},
    ),
    "an address, late": (
        invoices(deposit_address=f"0x{5000:040x}", exceptions=frozenset({LATE})),
        {BY_ADDRESS, *ANY_OF_INVOICES},
    ),
    "a method": (invoices(**OF_METHOD), {BY_METHOD, *ANY_OF_INVOICES}),
    "a method, further": (invoices(**OF_METHOD, after=True), {BY_METHOD, *ANY_OF_INVOICES}),
    "a method, unpaid": (
        invoices(**OF_METHOD, statuses=frozenset({UNPAID})),
        {BY_METHOD, *ANY_OF_INVOICES},
    ),
    "a method, late": (
        invoices(**OF_METHOD, exceptions=frozenset({LATE})),
        {BY_EXCEPTION, *ANY_OF_INVOICES},
    ),
    "the oldest": (invoices(**OLDEST), {BY_AGE, *ANY_OF_INVOICES}),
    "the oldest, further": (invoices(**OLDEST, after=True), {BY_AGE, *ANY_OF_INVOICES}),
    "the oldest of a method": (
        invoices(**OLDEST, **OF_METHOD, after=True),
        {BY_METHOD, *ANY_OF_INVOICES},
    ),
    "a large order, the oldest": (
        invoices(**OLDEST, external_order_id=LARGE_ORDER),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "changed": (invoices(**CHANGED), {BY_CHANGE, BY_STATUS, *ANY_OF_INVOICES}),
    "changed, further": (
        invoices(**CHANGED, after=True),
        {BY_CHANGE, BY_STATUS, *ANY_OF_INVOICES},
    ),
    "changed in a small shop": (
        invoices(**CHANGED, of_ben=True),
        {BY_CHANGE, BY_STATUS, *ANY_OF_INVOICES},
    ),
    "changed, paid, of a method": (
        invoices(**CHANGED, **OF_METHOD, **SOME_TIME, statuses=frozenset({PAID})),
        {BY_CHANGE, *ANY_OF_INVOICES},
    ),
    "changed, late": (
        invoices(**CHANGED, exceptions=frozenset({LATE}), after=True),
        {CHANGED_BY_EXCEPTION, BY_STATUS, *ANY_OF_INVOICES},
    ),
    "changed, of an order": (
        invoices(**CHANGED, external_order_id="order-5000"),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "changed, of a transaction": (
        invoices(**CHANGED, tx_hash=make_hash("transaction", 5000)),
        {"payment(tx_hash)", *ANY_OF_INVOICES},
    ),
    "a transaction": (
        invoices(tx_hash=make_hash("transaction", 5000)),
        {"payment(tx_hash)", *ANY_OF_INVOICES},
    ),
    "late": (invoices(exceptions=frozenset({LATE})), {BY_EXCEPTION, *ANY_OF_INVOICES}),
    "late or over, expired": (
        invoices(exceptions=frozenset({LATE, OVER}), statuses=frozenset({EXPIRED})),
        {BY_EXCEPTION, *ANY_OF_INVOICES},
    ),
    "a large order, late": (
        invoices(external_order_id=LARGE_ORDER, exceptions=frozenset({LATE})),
        {BY_ORDER, *ANY_OF_INVOICES},
    ),
    "payments": (receipts(), RECEIPTS),
    "payments, further": (receipts(after=True), RECEIPTS),
    "payments of a small shop": (receipts(of_ben=True), RECEIPTS),
    "payments of some time, the oldest, further": (
        receipts(after=True, received_from=1, received_to=2**41, is_ascending=True),
        RECEIPTS,
    ),
    "events": (events(), {LOG, "event(id)"}),
    "events of a small shop": (events(of_ben=True), {LOG, "event(id)"}),
    "no newer events": (events(after=INVOICES), {LOG}),
    "events of a rare type": (
        events(types=frozenset({"invoice.expired"})),
        {"event(project_id, type, id)", "event(id)"},
    ),
    "events of a frequent type": (
        events(types=frozenset({"invoice.paid"})),
        {"event(project_id, type, id)", "event(id)"},
    ),
    "events of an invoice": (events(invoice_id=INVOICE), {"event(invoice_id, id)", "event(id)"}),
    "events of a type of an invoice": (
        events(invoice_id=INVOICE, types=frozenset({"invoice.paid"})),
        {"event(invoice_id, id)", "event(id)"},
    ),
    "an event": (
        lambda stage, db: event_list.access_event(db, project_id=stage.ada, event_id=1),
        {"event(id)"},
    ),
    "heads": (
        lambda stage, db: event_list.find_heads(db, [stage.ada, stage.ben]),
        {LOG},
    ),
    "attempts": (attempts(None), {THE_ENDPOINT, "webhook_attempt(endpoint_id, id)"}),
    "attempts, further": (attempts(300), {THE_ENDPOINT, "webhook_attempt(endpoint_id, id)"}),
    "endpoints": (
        lambda stage, db: endpoints.list_endpoints(db, project_id=stage.ada),
        {"webhook_endpoint(project_id, created_at, id)"},
    ),
    "methods": (
        lambda stage, db: methods.list_methods(db, project_id=stage.ada),
        {"payment_method(project_id, id)"},
    ),
    "blocks": (
        lambda stage, db: checkpoints.find_checkpoint_blocks(db, CHAIN_ID, up_to=8_990),
        {"chain_block(chain_id, number)"},
    ),
    "receivers": (
        lambda stage, db: receivers.find_receivers(db, CHAIN_ID, since=stage.now, limit=20),
        {"invoice(chain_id, monitoring_ends_at)"},
    ),
    "owners of addresses": (
        lambda stage, db: receivers.match_receivers(
            db, CHAIN_ID, since=stage.now, addresses=[f"0x{n:040x}" for n in range(5_990, 6_000)]
        ),
        {"invoice(chain_id, deposit_address)"},
    ),
    "newcomers": (
        lambda stage, db: receivers.find_newcomers(db, CHAIN_ID, limit=20),
        {"invoice(chain_id)"},
    ),
    "tokens": (
        lambda stage, db: receivers.find_tokens(db, CHAIN_ID, since=stage.now),
        {"invoice(chain_id, monitoring_ends_at)"},
    ),
    "awaited": (
        lambda stage, db: receivers.is_awaited(db, CHAIN_ID),
        {"invoice(chain_id, expires_at)", "payment(chain_id, block_number)", "invoice(chain_id)"},
    ),
    "backlog": (lambda stage, db: backlog.find_backlog(db, now=stage.now), {SERVED, DUE, LOG}),
    "endpoints with work": (
        lambda stage, db: queue.find_work(
            db, holder=HOLDER, excluded=["x"], limit=5, now=stage.now
        ),
        {SERVED, DUE, LOG},
    ),
}


def claim(stage: Stage, session: Session) -> Mapping[str, Any]:
    return queue.claim(
        session, [ENDPOINT, OTHER_ENDPOINT], holder=HOLDER, until=stage.now, now=stage.now
    )


def pick(stage: Stage, session: Session) -> None:
    row = claim(stage, session)[ENDPOINT]
    for under_way in ([], [INVOICES]):
        assert queue.pick(session, row, under_way=under_way, limit=10, now=stage.now)


def record(stage: Stage, session: Session) -> None:
    reply = Reply(stage.now, 5, 200, None, "")
    tried = [Attempt(ENDPOINT, INVOICES - n, "invoice.paid", reply) for n in range(3)]
    rows = claim(stage, session)
    outcomes.record_attempts(session, rows, tried, holder=HOLDER, now=stage.now)


def settle(stage: Stage, session: Session) -> None:
    settlement.apply_settlement(
        session, OTHER_INVOICE, head_number=9_000, checkpoint_time=stage.now, now=stage.now
    )


def forget(rule: Rule) -> Work:
    return lambda stage, session: rule.delete_expired(session, stage.now - timedelta(days=29), 10)


STEPS: Mapping[str, tuple[Work, set[str]]] = {
    "keys": (
        lambda stage, db: keys.list_keys(db, project_id=stage.ada),
        {"api_key(project_id)"},
    ),
    "expire": (
        lambda stage, db: expiry.try_expire_some(db, now=stage.now, limit=1),
        {"invoice(chain_id, expires_at)", "invoice(id)", "payment(invoice_id)", "payment(id)"},
    ),
    "go back": (
        lambda stage, db: receivers.go_back(
            db, CHAIN_ID, to=BlockMark(5, "0x", stage.now), since=stage.now
        ),
        {"invoice(chain_id, monitoring_ends_at)", "invoice(chain_id)"},
    ),
    "read anew": (
        lambda stage, db: receivers.read_anew(
            db, CHAIN_ID, expired_at=stage.now, ended_at=stage.now
        ),
        {
            "invoice(chain_id, expires_at)",
            "invoice(chain_id, monitoring_ends_at)",
            "invoice(id)",
        },
    ),
    "send back to the start": (
        lambda stage, db: receivers.send_back_to_start(db, CHAIN_ID, since=stage.now),
        {"invoice(chain_id, monitoring_ends_at)"},
    ),
    "settle": (settle, THE_INVOICE),
    "maturing": (
        lambda stage, db: watched.find_maturing(db, CHAIN_ID, head_number=9_000),
        {"invoice(id)", "payment(chain_id, block_number)"},
    ),
    "dropped": (
        lambda stage, db: watched.orphan(db, CHAIN_ID, above=5_990),
        {"payment(chain_id, block_number)", "payment(id)"},
    ),
    "dropped of those watched": (
        lambda stage, db: watched.orphan(db, CHAIN_ID, above=5_990, since=stage.now),
        {"invoice(id)", "payment(chain_id, block_number)", "payment(id)"},
    ),
    "claim": (claim, {THE_ENDPOINT}),
    "pick": (pick, {THE_ENDPOINT, DUE, "event(id)"}),
    "schedules": (
        lambda stage, db: queue.find_schedules(db, [ENDPOINT, OTHER_ENDPOINT], now=stage.now),
        {THE_ENDPOINT, DUE},
    ),
    "follow the log": (
        lambda stage, db: fan_out.advance(db, claim(stage, db).values(), now=stage.now),
        {THE_ENDPOINT, LOG, OPEN},
    ),
    "record": (
        record,
        {THE_ENDPOINT, OPEN, "webhook_delivery(event_id, endpoint_id)"},
    ),
    "open deliveries": (lambda stage, db: fan_out.find_open(db, PAIRS), {OPEN}),
    "schedule the next": (
        lambda stage, db: outcomes.schedule_next(db, PAIRS, now=stage.now),
        {OPEN},
    ),
    "give up what is forgotten": (
        lambda stage, db: outcomes.give_up_forgotten(db, ENDPOINT, now=stage.now),
        {DUE, "event(id)"},
    ),
    "forget keys": (
        forget(RULES[0]),
        {"idempotency_key(created_at)", "idempotency_key(project_id, key)", "invoice(id)"},
    ),
    "forget sessions": (
        forget(RULES[1]),
        {"checkout_session(expires_at)", "checkout_session(id)"},
    ),
}

NOT_KNOWN: Mapping[str, set[str]] = {
    **{name: {UNIQUE_IN_ORDER} for name in LISTS if "order" in name},
    "invoices of a small shop": {BY_STATUS},
    "owners of addresses": {"invoice(chain_id, monitoring_ends_at)"},
    "forget keys": {"invoice(*)"},
    "follow the log": {"webhook_delivery(*)"},
}
"""Plans that PostgreSQL may also use without statistics, which it collects by itself."""


@pytest.mark.parametrize("name", LISTS)
def test_list_uses_its_index(stage: Stage, name: str) -> None:
    work, expected = LISTS[name]
    with watching(stage.database) as ways, stage.database.reading() as db:
        work(stage, db)
    assert_ways(stage, name, ways, expected)


@pytest.mark.parametrize("name", STEPS)
def test_step_of_a_worker_uses_its_index(stage: Stage, name: str) -> None:
    work, expected = STEPS[name]

    def unit(session: Session) -> None:
        work(stage, session)
        session.flush()
        raise _Undone

    with watching(stage.database) as ways, pytest.raises(_Undone):
        stage.database.run(unit)
    assert_ways(stage, name, ways, expected)


def assert_ways(stage: Stage, name: str, ways: Mapping[str, set[str]], expected: set[str]) -> None:
    taken = set().union(*ways.values()) - SMALL
    if stage.database.dialect == "postgresql" and not stage.is_known:
        taken -= NOT_KNOWN.get(name, set())
        assert taken <= expected, ways
    else:
        assert taken == expected, ways
