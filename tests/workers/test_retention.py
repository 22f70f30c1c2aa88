"""Old rows are deleted in small batches by an index, and young rows are kept to the millisecond."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import (
    Boolean,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    delete,
    event,
    func,
    insert,
    select,
)
from sqlalchemy.orm import Session

from models.chat.base import ChatBase
from models.chat.queues.retention import LASTS, forget_ephemeral_events
from models.chat.retention import RULES as CHAT
from models.chat.tables import Event as EventRow
from models.chat.tables import Message, MessageArchive, MessageEdit
from models.payment.base import PaymentBase
from models.payment.checkpoints import REMEMBERED_BLOCKS
from models.payment.retention import RULES as PAYMENT
from models.payment.tables import ChainBlock, IdempotencyKey, Invoice
from models.payment.webhooks.tables import WebhookEndpoint
from settings import Settings
from specd._workers.retention import Retention
from specd.db import Database, Rule, UtcMs
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, PROJECT_ID, Ledger, watch, watcher_of
from workers.periodic import PeriodicStep

SETTINGS = Settings()
MS = timedelta(milliseconds=1)
CHAT_RULES = [rule.table for rule in CHAT if rule.period is not None]
ENDPOINT_ID = "00000000-0000-4000-8000-00000000000e"
PAYMENT_RULES = [rule.table for rule in PAYMENT if rule.period is not None]
AGES = {
    "attempt_count": "arrival_at",
    "browser_session": "ends_at",
    "checkout_session": "expires_at",
    "email_change": "expires_at",
    "invitation": "expires_at",
    "event_queue": "expires_at",
    "known_place": "last_at",
    "message_archive": "archived_at",
    "outbox": "closed_at",
    "scheduled_message": "scheduled_at",
    "spent_link": "ends_at",
    "webhook_endpoint": "deleted_at",
}

KNOWN_BLOCKS = select(func.count()).where(ChainBlock.chain_id == CHAIN_ID)


def rules_of(rules: Sequence[Rule], table: str) -> list[Rule]:
    return [rule for rule in rules if rule.table == table]


class Store:
    """One service's database, its clock, and rows of any of its tables."""

    def __init__(
        self, database: Database, clock: FrozenClock, metadata: MetaData, rules: Sequence[Rule],
        given: Mapping[str, Mapping[str, Any]],
    ) -> None:  # fmt: skip
        self.database, self.clock, self.rules = database, clock, rules
        self._metadata, self._given = metadata, given
        self._count = 0
        self.rested: list[float] = []

    def table(self, name: str) -> Table:
        return self._metadata.tables[name]

    def age(self, name: str) -> str:
        return AGES.get(name, "created_at" if "created_at" in self.table(name).c else "at")

    def kept_for(self, name: str) -> timedelta:
        (rule,) = (rule for rule in rules_of(self.rules, name) if rule.period is not None)
        return rule.retention(SETTINGS)

    def add(self, name: str, at: datetime, **more: Any) -> None:
        """Insert a row whose age is `at`, with valid values in all other columns."""
        self._count += 1
        table = self.table(name)
        given = {**self._given.get("*", {}), **self._given.get(name, {}), **more}
        row: dict[str, Any] = {} if self.age(name) in more else {self.age(name): at}
        for column in table.columns:
            if column.name in given:
                row.setdefault(column.name, given[column.name])
            elif not (
                column.nullable
                or column.default is not None
                or column is table.autoincrement_column
            ):
                row.setdefault(column.name, self._value_of(column, at))
        self.database.run(lambda session: session.execute(insert(table).values(row)))

    def _value_of(self, column: Any, at: datetime) -> Any:
        if isinstance(column.type, UtcMs):
            return at
        if isinstance(column.type, LargeBinary):
            return b"{}"
        if isinstance(column.type, Boolean):
            return False
        return self._count if column.type._type_affinity is Integer else f"x{self._count}"

    def ages(self, name: str) -> list[datetime]:
        age = self.table(name).c[self.age(name)]
        with self.database.reading() as reader:
            return list(reader.scalars(select(age).order_by(age)))

    def worker(self, name: str | None = None, batch: int = 3) -> Retention:
        rules = self.rules if name is None else rules_of(self.rules, name)
        return Retention(
            self.database, self.clock, rules, SETTINGS, rest=self.rested.append, batch=batch
        )


@pytest.fixture
def chat_store(chat_database: Database, clock: FrozenClock, cast: Cast) -> Store:
    return Store(chat_database, clock, ChatBase.metadata, CHAT, {
        "*": {"realm_id": cast.realm_id, "user_id": cast.hamlet.id, "sender_id": cast.hamlet.id},
        "invitation": {"inviter_id": cast.hamlet.id},
        "outbox": {"state": "sent"},
        "scheduled_message": {"state": "sent", "message_id": 1},
    })  # fmt: skip


@pytest.fixture
def payment_store(ledger: Ledger) -> Store:
    invoice = ledger.invoice()
    now = ledger.clock.now()
    ledger.database.run(
        lambda session: session.add(
            WebhookEndpoint(
                id=ENDPOINT_ID,
                project_id=PROJECT_ID,
                url="",
                event_types="[]",
                description="",
                status="enabled",
                cursor=0,
                created_at=now,
                updated_at=now,
            )
        )
    )
    return Store(ledger.database, ledger.clock, PaymentBase.metadata, PAYMENT, {
        "checkout_session": {"invoice_id": invoice.id},
        "event": {"project_id": PROJECT_ID},
        "idempotency_key": {"project_id": PROJECT_ID},
        "scenario_run": {"project_id": PROJECT_ID, "invoice_id": invoice.id, "state": "passed"},
        "webhook_endpoint": {"project_id": PROJECT_ID},
        "webhook_delivery": {"endpoint_id": ENDPOINT_ID},
        "webhook_attempt": {"endpoint_id": ENDPOINT_ID},
    })  # fmt: skip


def forgets_the_old(store: Store, name: str) -> None:
    now, kept_for = store.clock.now(), store.kept_for(name)
    # The cast's rows are young, and some have the lowest ids.
    store.database.run(lambda session: session.execute(delete(store.table(name))))
    young = [now - kept_for, now]
    for at in [*(now - kept_for - MS for _ in range(7)), *young]:
        store.add(name, at)
    worker = store.worker(name)
    steps = [worker.try_delete_some() for _ in range(5)]
    assert steps.count(True) == 3, "seven rows by threes"
    assert store.ages(name) == young
    assert len(store.rested) == 3, "a rest after each batch"


def reaches_them_by_an_index(store: Store, name: str) -> None:
    """No step reads a complete table."""
    store.database.run(lambda session: session.execute(delete(store.table(name))))
    store.add(name, store.clock.now() - store.kept_for(name) - MS)
    told: list[str] = []
    with explaining(store.database, told):
        store.worker(name).try_delete_some()
    (plan,) = told
    assert f"Seq Scan on {name}" not in plan
    # Reading a few rows from the front of an append-only table is not a complete scan.
    first_ones = (name, store.rules) in (
        ("audit_log", CHAT),
        ("event", PAYMENT),
        ("webhook_attempt", PAYMENT),
        ("webhook_delivery", PAYMENT),
    )
    assert (f"SCAN {name}" in plan) == (first_ones and store.database.dialect == "sqlite"), plan


@contextmanager
def explaining(database: Database, told: list[str], word: str = "DELETE") -> Iterator[None]:
    """Yield the plan of each DELETE. PostgreSQL plans as if the tables were long."""
    engine = database._engine("writing")
    explained = "EXPLAIN QUERY PLAN " if database.dialect == "sqlite" else "EXPLAIN "

    def explain(
        connection: Connection, cursor: Any, statement: str, parameters: Any, *_: Any
    ) -> None:
        if statement.startswith(word):
            own = cursor.connection.cursor()
            if database.dialect == "postgresql":
                own.execute("SET LOCAL enable_seqscan = off")
            own.execute(explained + statement, parameters)
            told.append("\n".join(str(row[-1]) for row in own.fetchall()))

    event.listen(engine, "before_cursor_execute", explain)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", explain)


class TestChat:
    @pytest.mark.parametrize("name", CHAT_RULES)
    def test_forgets_the_old_and_keeps_the_young(self, chat_store: Store, name: str) -> None:
        forgets_the_old(chat_store, name)

    @pytest.mark.parametrize("name", CHAT_RULES)
    def test_reaches_old_rows_by_an_index(self, chat_store: Store, name: str) -> None:
        reaches_them_by_an_index(chat_store, name)

    def test_what_waits_is_not_old(self, chat_store: Store) -> None:
        """Pending mail, and messages that are due or could not be sent."""
        long_ago = chat_store.clock.now() - timedelta(days=3650)
        chat_store.add("outbox", long_ago, state="dead")
        chat_store.add("outbox", long_ago, state="pending", closed_at=None)
        for state in ("pending", "failed"):
            chat_store.add("scheduled_message", long_ago, state=state, message_id=None)
        worker = chat_store.worker()
        assert worker.try_delete_some()
        assert not worker.try_delete_some()
        assert chat_store.ages("outbox") == [None]
        assert chat_store.ages("scheduled_message") == [long_ago, long_ago]

    def test_what_was_for_a_moment_goes_from_between_the_others(self, chat_store: Store) -> None:
        """Except the newest event of an organization, which is the position of queues."""
        database, now = chat_store.database, chat_store.clock.now()
        database.run(lambda session: session.execute(delete(EventRow)))
        over = now - max(LASTS.values()) - MS
        for type_ in ("message", "typing", "typing_edit_message", "presence", "message"):
            chat_store.add("event", over, type=type_)
        chat_store.add("event", over + MS, type="typing")
        chat_store.add("event", over, type="typing")
        worker = chat_store.worker("event")
        assert [worker.try_delete_some() for _ in range(2)] == [True, False]
        with database.reading() as reader:
            left = reader.scalars(select(EventRow.type).order_by(EventRow.id)).all()
        assert left == ["message", "message", "typing", "typing"]
        chat_store.add("event", now, type="message")
        assert worker.try_delete_some()
        with database.reading() as reader:
            left = reader.scalars(select(EventRow.type).order_by(EventRow.id)).all()
        assert left == ["message", "message", "typing", "message"]

    def test_reaches_what_was_for_a_moment_by_its_index(self, chat_store: Store) -> None:
        told: list[str] = []
        with explaining(chat_store.database, told, word="SELECT"):
            chat_store.database.run(
                lambda session: forget_ephemeral_events(session, chat_store.clock.now(), 3)
            )
        assert "ix_event_ephemeral" in told[0]

    def test_what_was_written_and_deleted_is_gone_in_the_end(
        self, chat_store: Store, chat: ChatClient, as_cordelia: ChatClient, cast: Cast
    ) -> None:
        """The text, the text before its edit, and the events about both."""
        database, clock = chat_store.database, chat_store.clock
        square = database.run(
            lambda session: make_channel(session, cast, "square", subscribers=[cast.hamlet])
        )
        to = {"type": "channel", "to": square, "topic": "t"}
        message_id = chat.post("/messages", **to, content="the first draft")["id"]
        chat.patch(f"/messages/{message_id}", content="the second draft")
        kept = chat.post("/messages", **to, content="what stays")["id"]
        as_cordelia.delete(f"/messages/{message_id}")
        assert self.mentions(database, "draft") > 0
        clock.advance(seconds=30 * 86_400 + 1)
        worker = chat_store.worker(batch=100)
        while worker.try_delete_some():
            pass
        assert self.mentions(database, "draft") == 0
        assert chat.get(f"/messages/{kept}")["message"]["content"] == "<p>what stays</p>"

    @staticmethod
    def mentions(database: Database, word: str) -> int:
        columns = (Message.content, MessageArchive.content, MessageEdit.prev_content,
                   EventRow.payload)  # fmt: skip
        with database.reading() as reader:
            return sum(
                reader.execute(select(func.count()).where(column.contains(word))).scalar_one()
                for column in columns
            )


class TestPayment:
    @pytest.mark.parametrize("name", PAYMENT_RULES)
    def test_forgets_the_old_and_keeps_the_young(self, payment_store: Store, name: str) -> None:
        forgets_the_old(payment_store, name)

    @pytest.mark.parametrize("name", PAYMENT_RULES)
    def test_reaches_old_rows_by_an_index(self, payment_store: Store, name: str) -> None:
        reaches_them_by_an_index(payment_store, name)

    def test_keys_stay_while_their_invoice_is_open(
        self, payment_store: Store, ledger: Ledger
    ) -> None:
        open_one, closed = ledger.invoice(), ledger.invoice()
        ledger.cancel(closed)
        long_ago = ledger.clock.now() - timedelta(days=3650)
        invoices: dict[str, Invoice | None] = {"open": open_one, "closed": closed, "refused": None}
        for key, invoice in invoices.items():
            invoice_id = None if invoice is None else invoice.id
            payment_store.add("idempotency_key", long_ago, key=key, invoice_id=invoice_id)
        assert payment_store.worker("idempotency_key").try_delete_some()
        with ledger.database.reading() as reader:
            assert reader.scalars(select(IdempotencyKey.key)).all() == ["open"]

    def test_old_checkpoints_are_forgotten_but_not_the_first_block(
        self, ledger: Ledger, chain: FakeChain, payment_store: Store
    ) -> None:
        watcher = watcher_of(ledger, chain, log_range=200)
        watch(watcher)
        for _ in range(12):
            chain.mine(200)
            watch(watcher)
        with ledger.database.reading() as reader:
            before = reader.scalar(KNOWN_BLOCKS)
        worker = payment_store.worker("chain_block")
        while worker.try_delete_some():
            pass
        with ledger.database.reading() as reader:
            after = reader.scalar(KNOWN_BLOCKS)
        assert before > after >= REMEMBERED_BLOCKS // 200
        chain.reorg(500)
        watch(watcher)
        assert ledger.checkpoint() == chain.height


def test_two_workers_share_the_work(chat_store: Store) -> None:
    """Rows that another worker is deleting are skipped without waiting."""
    long_ago = chat_store.clock.now() - timedelta(days=3650)
    for _ in range(6):
        chat_store.add("idempotency_key", long_ago)
    if chat_store.database.dialect == "sqlite":
        pytest.skip("SQLite has one writer")
    (rule,) = rules_of(CHAT, "idempotency_key")
    now = chat_store.clock.now()

    def work(session: Session) -> None:
        assert rule.delete_expired(session, now, 3)
        assert chat_store.worker("idempotency_key").try_delete_some()

    chat_store.database.run(work)
    assert chat_store.ages("idempotency_key") == []


def test_a_tidy_step_comes_again_while_it_finds_something(clock: FrozenClock) -> None:
    found = iter([True, True, False, False])
    calls: list[datetime] = []

    def step() -> bool:
        calls.append(clock.now())
        return next(found)

    tidy = PeriodicStep(clock, timedelta(minutes=1), step)
    steps: Callable[[], list[bool]] = lambda: [tidy.try_one() for _ in range(4)]  # noqa: E731
    assert steps() == [True, True, False, False]
    assert len(calls) == 3, "it rests once it found nothing"
    clock.advance(seconds=60)
    assert steps() == [False, False, False, False]
    assert len(calls) == 4
