"""Rows that the watcher writes: transfers once, dropped transfers kept, unsynced invoices apart."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.payment import receivers, watching
from models.payment.checkpoints import BlockMark
from models.payment.invoice_view import InvoiceView, read_settled
from models.payment.receivers import Receiver
from models.payment.rendering import render_with_notes
from models.payment.tables import Invoice, Payment
from models.payment.watching import Observation
from specd.db import Database
from tests.support.payment.factories import CHAIN_ID, Merchant, make_hash, make_invoice


@pytest.fixture
def invoice(database: Database, ada: Merchant, now: datetime) -> InvoiceView:
    return database.run(lambda session: make_invoice(session, ada, now=now))


def receiver_of(invoice: InvoiceView) -> Receiver:
    return Receiver(
        invoice.id,
        invoice.token_address,
        invoice.deposit_address,
        invoice.monitoring_ends_at,
        after_block=-1,
        handed_out_at=None,
    )


def transfer(invoice: InvoiceView, *, block: int = 7, log_index: int = 0) -> Observation:
    return Observation(
        receiver=receiver_of(invoice),
        block=BlockMark(block, make_hash("block", block), invoice.created_at),
        tx_hash=make_hash("transaction", 1),
        log_index=log_index,
        sender=invoice.token_address,
        amount=2**256 - 1,
    )


def record(database: Database, now: datetime, *seen: Observation) -> set[str]:
    return database.run(lambda session: watching.record(session, CHAIN_ID, seen, now=now))


def rows(database: Database) -> list[tuple[int, int, str]]:
    with database.reading() as reader:
        found = reader.execute(
            select(Payment.block_number, Payment.log_index, Payment.status).order_by(
                Payment.block_number, Payment.log_index
            )
        )
        return [(row.block_number, row.log_index, row.status) for row in found]


class TestRecord:
    def test_transfer_is_reported_once(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        assert record(database, now, transfer(invoice)) == {invoice.id}
        assert record(database, now, transfer(invoice)) == set()
        assert rows(database) == [(7, 0, "pending")]

    def test_two_logs_of_one_transaction_are_two_payments(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        record(database, now, transfer(invoice), transfer(invoice, log_index=1))
        assert rows(database) == [(7, 0, "pending"), (7, 1, "pending")]

    def test_returning_block_restores_its_payment(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        record(database, now, transfer(invoice))
        database.run(lambda session: watching.orphan(session, CHAIN_ID, above=6))
        assert rows(database) == [(7, 0, "orphaned")]
        assert record(database, now, transfer(invoice)) == {invoice.id}
        assert rows(database) == [(7, 0, "pending")]


class TestOrphan:
    def test_payments_in_higher_blocks_that_were_not_read_again_are_dropped(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        kept = transfer(invoice, block=9)
        record(database, now, transfer(invoice, block=6), transfer(invoice, block=8), kept)
        touched = database.run(
            lambda session: watching.orphan(session, CHAIN_ID, above=6, keep={kept.key})
        )
        assert touched == {invoice.id}
        assert rows(database) == [(6, 0, "pending"), (8, 0, "orphaned"), (9, 0, "pending")]

    def test_invoice_without_monitoring_is_unchanged(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        record(database, now, transfer(invoice))
        after = invoice.monitoring_ends_at + timedelta(seconds=1)
        touched = database.run(
            lambda session: watching.orphan(session, CHAIN_ID, above=-1, since=after)
        )
        assert touched == set()
        assert rows(database) == [(7, 0, "pending")]


class TestNewcomers:
    def test_invoice_is_a_newcomer_until_it_is_synced(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        assert (newcomers(database), receiver_ids(database, now)) == ([invoice.id], [])
        caught_up(database, invoice, next_block=5)
        assert (newcomers(database), receiver_ids(database, now)) == ([invoice.id], [])
        caught_up(database, invoice, next_block=None)
        assert (newcomers(database), receiver_ids(database, now)) == ([], [invoice.id])

    def test_newcomer_is_not_settled(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        def settle(session: Session) -> int:
            return watching.settle_touched(
                session, {invoice.id}, head_number=9, checkpoint_time=now, now=now
            )

        assert database.run(settle) == 0
        caught_up(database, invoice, next_block=None)
        assert database.run(settle) == 1

    def test_walk_back_lowers_only_higher_starts(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        ancestor = BlockMark(9, make_hash("block", 9), now)
        for before, after in ((3, 3), (40, 10)):
            caught_up(database, invoice, next_block=before)
            anchors = {invoice.id: before}
            database.run(partial(receivers.anchor, anchors=anchors))
            database.run(
                lambda session: receivers.go_back(session, CHAIN_ID, to=ancestor, since=now)
            )
            with database.reading() as reader:
                [found] = receivers.find_newcomers(reader, CHAIN_ID, limit=5)
            assert (found.catch_up_block, found.creation_block) == (after, min(before, 9))

    def test_expired_invoice_is_rescanned_twice(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        """Once before it expires permanently, and once when its monitoring ends."""
        unread = update(Invoice).values(rereads=0, creation_block=7)
        database.run(lambda session: session.execute(unread))

        def read_anew(expired_at: datetime, ended_at: datetime | None = None) -> int:
            caught_up(database, invoice, next_block=None)
            return database.run(
                lambda session: receivers.read_anew(
                    session, CHAIN_ID, expired_at=expired_at, ended_at=ended_at
                )
            )

        moment, ended = timedelta(milliseconds=1), invoice.monitoring_ends_at
        assert read_anew(invoice.expires_at) == 0
        assert read_anew(invoice.expires_at + moment) == 1
        with database.reading() as reader:
            [found] = receivers.find_newcomers(reader, CHAIN_ID, limit=5)
        assert (found.start, found.rereads) == (8, 1)
        assert read_anew(invoice.expires_at + moment, ended) == 0
        assert read_anew(invoice.expires_at + moment, ended + moment) == 1
        assert read_anew(invoice.expires_at + moment, ended + moment) == 0

    def test_receivers_end_with_their_monitoring(
        self, database: Database, invoice: InvoiceView
    ) -> None:
        caught_up(database, invoice, next_block=None)
        end = invoice.monitoring_ends_at
        assert receiver_ids(database, end) == [invoice.id]
        assert receiver_ids(database, end + timedelta(milliseconds=1)) == []


def caught_up(database: Database, invoice: InvoiceView, *, next_block: int | None) -> None:
    database.run(
        lambda session: receivers.note_caught_up(session, [invoice.id], next_block=next_block)
    )


def newcomers(database: Database) -> list[str]:
    with database.reading() as reader:
        found = receivers.find_newcomers(reader, CHAIN_ID, limit=5)
    return [each.receiver.invoice_id for each in found]


def receiver_ids(database: Database, since: datetime) -> list[str]:
    with database.reading() as reader:
        found = receivers.find_receivers(reader, CHAIN_ID, since=since, limit=None)
    return [each.invoice_id for each in found]


class TestDust:
    """An invoice with a thousand payments accepts no more dust. `few` lowers the limit to three."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watching, "MAX_PAYMENTS", 3)

    def atoms(self, invoice: InvoiceView, n: int, amount: int = 1) -> Observation:
        return replace(transfer(invoice, log_index=n), amount=amount)

    def test_dust_is_stored_up_to_a_number(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        at_once = [self.atoms(invoice, n) for n in range(5)]
        assert record(database, now, *at_once) == {invoice.id}
        assert [log_index for _, log_index, _ in rows(database)] == [0, 1, 2]
        assert record(database, now, self.atoms(invoice, 6)) == set()
        worth = invoice.amount // watching.DUST_PART
        assert record(database, now, self.atoms(invoice, 7, worth - 1)) == set()
        assert record(database, now, self.atoms(invoice, 8, worth)) == {invoice.id}
        assert [log_index for _, log_index, _ in rows(database)] == [0, 1, 2, 8]

    def test_omitted_dust_is_reported(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        stored = [self.atoms(invoice, n) for n in range(3)]
        record(database, now, *stored)
        record(database, now, *stored)  # a second reading
        assert "transfers_left_out" not in self.shown(database, invoice)
        record(database, now, self.atoms(invoice, 3))
        assert self.shown(database, invoice)["transfers_left_out"] is True

    def shown(self, database: Database, invoice: InvoiceView) -> dict[str, Any]:
        with database.reading() as reader:
            return render_with_notes(read_settled(reader, invoice.id, head_number=200))

    def test_dust_of_dropped_blocks_does_not_count(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        record(database, now, *(self.atoms(invoice, n) for n in range(3)))
        database.run(lambda session: watching.orphan(session, CHAIN_ID, above=1))
        assert record(database, now, self.atoms(invoice, 5)) == {invoice.id}

    def test_dust_of_another_invoice_does_not_count(
        self, database: Database, ada: Merchant, invoice: InvoiceView, now: datetime
    ) -> None:
        other = database.run(lambda session: make_invoice(session, ada, now=now))
        record(database, now, *(self.atoms(invoice, n) for n in range(4)))
        assert record(database, now, self.atoms(other, 9)) == {other.id}

    def test_known_dust_returns_with_its_block(
        self, database: Database, invoice: InvoiceView, now: datetime
    ) -> None:
        known = [self.atoms(invoice, n) for n in range(3)]
        record(database, now, *known)
        database.run(lambda session: watching.orphan(session, CHAIN_ID, above=1))
        new = self.atoms(invoice, 5)
        assert record(database, now, *known, new) == {invoice.id}
        assert [status for _, _, status in rows(database)] == ["pending"] * 3
