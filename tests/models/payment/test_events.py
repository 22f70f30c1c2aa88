"""Events: the event of each transition, stored in the same transaction and in order."""

import itertools
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, cast

import orjson
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.payment import event_list, event_log, expiry
from models.payment.event_list import EventFilter
from models.payment.events import KINDS, InvoiceCreated, MerchantEvent, kinds_of
from models.payment.settlement import apply_settlement, cancel_invoice
from models.payment.tables import Event, Payment
from models.payment.webhooks.events import WebhookEndpointDisabled
from specd.db import Database, table_of
from tests.support.payment.factories import LIFETIME, Merchant, make_invoice, pay, set_head
from tests.support.payment.states import STATES, TRANSITIONS
from tests.support.served import served

TYPES = [
    "invoice.created",
    "invoice.payment_received",
    "invoice.payment_reorged",
    "invoice.partially_paid",
    "invoice.processing",
    "invoice.paid",
    "invoice.overpaid",
    "invoice.expired",
    "invoice.canceled",
    "invoice.paid_late",
    "invoice.reorged",
    "invoice.resolved",
]


class Note(MerchantEvent):
    """An event without an invoice."""

    type = "note"

    def __init__(self, text: str) -> None:
        self.text = text

    def data(self) -> dict[str, Any]:
        return {"text": self.text}


def stored_events(database: Database) -> list[tuple[str, str, str]]:
    """Return type, status and exception of every event, by id."""
    table = table_of(Event)
    with database.reading() as connection:
        rows = connection.execute(select(table).order_by(table.c.id)).all()
    found = []
    for row in rows:
        assert row.size == len(row.data.encode())
        invoice = orjson.loads(row.data)["invoice"]
        assert invoice["id"] == row.invoice_id
        found.append((row.type, invoice["status"], invoice["exception"]))
    return found


class TestKinds:
    def test_document_has_every_type(self) -> None:
        assert list(KINDS) == [*TYPES, WebhookEndpointDisabled.type]
        assert served("payment")["components"]["schemas"]["EventType"]["enum"] == list(KINDS)

    @pytest.mark.parametrize(
        ("before", "after", "type_"),
        [
            ("unpaid none", "unpaid partial", "partially_paid"),
            ("unpaid none", "processing none", "processing"),
            ("unpaid partial", "processing none", "processing"),
            ("unpaid none", "paid none", "paid"),
            ("unpaid none", "paid over", "paid overpaid"),
            ("processing none", "paid none", "paid"),
            ("processing none", "paid over", "paid overpaid"),
            ("paid none", "paid over", "overpaid"),
            ("unpaid none", "expired none", "expired"),
            ("unpaid partial", "expired partial", "expired"),
            ("unpaid reorged", "expired reorged", "expired"),
            ("unpaid none", "canceled none", "canceled"),
            ("unpaid none", "expired late", "expired paid_late"),
            ("unpaid none", "unpaid late", ""),
            ("unpaid late", "expired late", "expired paid_late"),
            ("unpaid none", "expired reorged", "reorged expired"),
            ("expired late", "unpaid late", "reorged"),
            ("unpaid late", "paid over", "paid overpaid"),
            ("expired none", "expired late", "paid_late"),
            ("expired partial", "expired late", "paid_late"),
            ("canceled none", "canceled late", "paid_late"),
            ("processing none", "unpaid reorged", "reorged"),
            ("processing none", "expired reorged", "reorged expired"),
            ("processing reorged", "unpaid reorged", "reorged"),
            ("paid none", "processing reorged", "reorged"),
            ("paid over", "paid none", "reorged"),
            ("paid none", "expired reorged", "reorged expired"),
            ("paid none", "expired late", "reorged expired paid_late"),
            ("paid over", "unpaid late", "reorged"),
            ("processing none", "expired late", "reorged expired paid_late"),
            ("unpaid partial", "unpaid none", "reorged"),
            ("expired late", "expired none", "reorged"),
            ("canceled late", "canceled none", "reorged"),
            ("expired none", "unpaid none", "reorged"),
            ("unpaid late", "unpaid partial", "reorged"),
            ("unpaid reorged", "processing none", "processing"),
            ("unpaid reorged", "unpaid partial", "partially_paid"),
            ("processing reorged", "paid none", "paid"),
            ("expired none", "processing none", "processing"),
            ("expired none", "paid none", "paid"),
            ("expired none", "expired partial", ""),
            ("expired reorged", "expired partial", ""),
            ("expired partial", "expired none", "reorged"),
        ],
    )
    def test_transition_has_its_events(self, before: str, after: str, type_: str) -> None:
        old, new = (cast(tuple[str, str], tuple(state.split())) for state in (before, after))
        types = [kind.type for kind in kinds_of(old, new)]
        assert types == [f"invoice.{each}" for each in type_.split()]

    def test_every_transition_has_an_event(self) -> None:
        for old, new in itertools.product(STATES, STATES):
            if new[0] in TRANSITIONS[old[0]]:
                types = [kind.type for kind in kinds_of(old, new)]
                assert set(types) <= set(TYPES[3:-1])
                is_announced_later = old[0] == "unpaid" and new == ("unpaid", "late")
                is_found_late = new == ("expired", "partial") and old[1] in ("none", "reorged")
                is_found_late &= old[0] == "expired"
                assert bool(types) is (old != new and not is_announced_later and not is_found_late)
                enters = new[0] == "expired" != old[0]
                assert ("invoice.expired" in types) is enters
                if "invoice.paid_late" in types:
                    assert new[0] in ("expired", "canceled")
                    assert types[-1] == "invoice.paid_late"
                arrives = old[0] != "paid" and new[0] == "paid"
                assert ("invoice.paid" in types) is arrives


class TestWriting:
    def test_overpaid_invoice_has_all_events_since_its_creation(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda session: make_invoice(session, ada, now=now))
        pay(database, invoice.id, at=now, amount=2_500_000, block_number=100)
        pay(database, invoice.id, at=now, amount=10_000_000, block_number=101)
        pay(database, invoice.id, at=now, amount=1, block_number=102, head_number=102)
        pay(database, invoice.id, at=now, amount=1, block_number=103, head_number=104)
        assert stored_events(database) == [
            ("invoice.created", "unpaid", "none"),
            ("invoice.payment_received", "unpaid", "partial"),
            ("invoice.partially_paid", "unpaid", "partial"),
            ("invoice.payment_received", "processing", "none"),
            ("invoice.processing", "processing", "none"),
            ("invoice.payment_received", "paid", "none"),
            ("invoice.paid", "paid", "none"),
            ("invoice.payment_received", "paid", "over"),
            ("invoice.overpaid", "paid", "over"),
        ]

    def test_event_shows_the_invoice_at_that_time(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda session: make_invoice(session, ada, now=now))
        late = now + LIFETIME + timedelta(seconds=1)
        pay(database, invoice.id, at=now, amount=1, block_number=100, head_number=107)
        database.run(lambda session: set_head(session, head_number=110, at=now))
        wanted = EventFilter(ada.id, types=frozenset({"invoice.partially_paid"}))
        with database.reading() as connection:
            (row,) = event_list.list_events(connection, wanted, after=0, limit=10).events
        shown = orjson.loads(row.data)["invoice"]
        assert (shown["status"], shown["exception"]) == ("unpaid", "partial")
        assert shown["amount_paid"] == "1"
        assert [payment["confirmations"] for payment in shown["payments"]] == [8]
        assert row.at == now < late

    def test_confirmations_alone_append_no_event(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda session: make_invoice(session, ada, now=now))
        pay(database, invoice.id, at=now, head_number=110)
        before = stored_events(database)
        facts: dict[str, Any] = {"head_number": 120, "checkpoint_time": now, "now": now}
        database.run(lambda session: apply_settlement(session, invoice.id, **facts))
        assert stored_events(database) == before

    def test_cancellation_and_later_payment_append_events(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda session: make_invoice(session, ada, now=now))
        named = {"project_id": ada.id, "invoice_id": invoice.id.upper(), "now": now}
        database.run(lambda session: cancel_invoice(session, **named))
        pay(database, invoice.id, at=now)
        assert stored_events(database)[1:] == [
            ("invoice.canceled", "canceled", "none"),
            ("invoice.payment_received", "canceled", "late"),
            ("invoice.paid_late", "canceled", "late"),
        ]

    def test_expiry_appends_an_event(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        ids = [database.run(lambda s: make_invoice(s, ada, now=now)).id for _ in range(3)]
        after = now + LIFETIME + timedelta(seconds=1)

        def work(session: Session) -> bool:
            set_head(session, head_number=200, at=after)
            for invoice_id in ids:  # as if the watcher had read the blocks until then
                facts: dict[str, Any] = {"head_number": 200, "checkpoint_time": after}
                apply_settlement(session, invoice_id, now=after, **facts)
            return expiry.try_expire_some(session, now=after, limit=10)

        database.run(work)
        assert stored_events(database)[3:] == [("invoice.expired", "expired", "none")] * 3

    def test_reorganization_appends_an_event(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        invoice = database.run(lambda session: make_invoice(session, ada, now=now))
        payment = pay(database, invoice.id, at=now, head_number=101)

        def work(session: Session) -> None:
            session.get_one(Payment, payment.id).status = "orphaned"
            session.flush()
            facts: dict[str, Any] = {"head_number": 100, "checkpoint_time": now, "now": now}
            apply_settlement(session, invoice.id, **facts)

        database.run(work)
        assert stored_events(database)[1:] == [
            ("invoice.payment_received", "paid", "none"),
            ("invoice.paid", "paid", "none"),
            ("invoice.payment_reorged", "unpaid", "reorged"),
            ("invoice.reorged", "unpaid", "reorged"),
        ]

    def test_rolled_back_transition_appends_no_event(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        def work(session: Session) -> None:
            make_invoice(session, ada, now=now)
            raise RuntimeError("undone")

        with pytest.raises(RuntimeError, match="undone"):
            database.run(work)
        assert stored_events(database) == []


class TestOrder:
    def test_ids_ascend_in_the_order_of_commits(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        """A reader that polls for events after the last id receives each event once, while
        transactions of different lengths write.
        """
        writers, each = 4, 15
        seen: list[str] = []
        is_done = threading.Event()

        def write(name: int) -> None:
            for number in range(each):

                def work(session: Session, number: int = number) -> None:
                    event_log.append(session, ada.id, Note(f"{name} {number} a"), now=now)
                    event_log.append(session, ada.id, Note(f"{name} {number} b"), now=now)

                database.run(work)

        def read() -> None:
            after = 0
            while True:
                is_last = is_done.is_set()
                with database.reading() as connection:
                    found = event_list.list_events(
                        connection, EventFilter(ada.id), after=after, limit=7
                    )
                for row in found.events:
                    after = row.id
                    seen.append(orjson.loads(row.data)["text"])
                if is_last and not found.events:
                    return

        reader = threading.Thread(target=read)
        reader.start()
        threads = [threading.Thread(target=write, args=(name,)) for name in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        is_done.set()
        reader.join()
        assert len(seen) == len(set(seen)) == writers * each * 2
        for name in range(writers):
            own = [text for text in seen if text.startswith(f"{name} ")]
            assert own == [f"{name} {number} {part}" for number in range(each) for part in "ab"]

    def test_ids_are_not_reused(self, database: Database, ada: Merchant, now: datetime) -> None:
        def newest() -> int:
            with database.reading() as connection:
                return event_list.find_heads(connection, [ada.id])[ada.id]

        assert newest() == 0
        database.run(lambda session: event_log.append(session, ada.id, Note("a"), now=now))
        first = newest()
        database.run(lambda session: session.execute(Event.__table__.delete()))
        assert newest() == 0
        database.run(lambda session: event_log.append(session, ada.id, Note("b"), now=now))
        assert newest() > first

    def test_written_ids_sort_as_texts(self) -> None:
        ids = [1, 15, 16, 255, 2**31, 2**63 - 1]
        written = [event_list.written_id(one) for one in ids]
        assert sorted(written) == written
        assert [event_list.read_id(one) for one in written] == ids


def test_large_events_shorten_the_page(
    database: Database, ada: Merchant, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(after: int) -> tuple[list[str], bool, int]:
        with database.reading() as connection:
            page = event_list.list_events(connection, EventFilter(ada.id), after=after, limit=10)
        texts = [orjson.loads(row.data)["text"] for row in page.events]
        return texts, page.has_more, page.events[-1].id

    for text in "abc":
        note: Callable[[Session], None] = lambda session, text=text: event_log.append(  # noqa: E731
            session, ada.id, Note(text), now=now
        )
        database.run(note)
    size = len(b'{"text":"a"}')
    monkeypatch.setattr(event_list, "MAX_BYTES", 2 * size)
    texts, has_more, last = look(0)
    assert (texts, has_more) == (["a", "b"], True)
    assert look(last)[:2] == (["c"], False)
    monkeypatch.setattr(event_list, "MAX_BYTES", 1)
    assert look(0)[:2] == (["a"], True)


def test_event_of_a_created_invoice_is_complete(
    database: Database, ada: Merchant, now: datetime
) -> None:
    invoice = database.run(lambda session: make_invoice(session, ada, now=now))
    with database.reading() as connection:
        (row,) = event_list.list_events(connection, EventFilter(ada.id), after=0, limit=1).events
    assert orjson.loads(row.data) == InvoiceCreated(invoice).data()
    assert (row.type, row.invoice_id, row.at) == ("invoice.created", invoice.id, now)
