"""The state machine: each row of the table in payment.md, and its invariants on random chains."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from models.payment.lifecycle import Settlement, settle, status_at
from tests.support.payment.states import STATES, TRANSITIONS
from tests.support.payment.stories import find_stories

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
EXPIRY = START + timedelta(minutes=30)
AMOUNT = 1000


@dataclass(frozen=True)
class FakeInvoice:
    amount: int = AMOUNT
    status: str = "unpaid"
    exception: str = "none"
    confirmations_required: int = 2
    tolerance_ppm: int = 0
    expires_at: datetime = EXPIRY
    paid_at: datetime | None = None
    canceled_at: datetime | None = None


@dataclass(frozen=True)
class FakePayment:
    amount: int = AMOUNT
    status: str = "pending"
    tx_hash: str = "tx"
    block_number: int = 100
    block_hash: str = "block"
    block_timestamp: datetime = START


LATE = EXPIRY + timedelta(seconds=1)


def settled(
    *payments: FakePayment,
    invoice: FakeInvoice | None = None,
    head: int = 100,
    checkpoint: datetime | None = START,
    now: datetime = START,
) -> Settlement:
    return settle(
        invoice or FakeInvoice(), payments, head_number=head, checkpoint_time=checkpoint, now=now
    )


def state(settlement: Settlement) -> str:
    return f"{settlement.status}+{settlement.exception}"


class TestSettle:
    """Each row of the table."""

    def test_no_payment(self) -> None:
        assert settled() == Settlement("unpaid", "none", 0, 0, None)

    def test_partial_payment(self) -> None:
        assert settled(FakePayment(400)) == Settlement("unpaid", "partial", 0, 400, None)

    def test_unconfirmed_full_payment(self) -> None:
        assert settled(FakePayment()) == Settlement("processing", "none", 0, AMOUNT, None)

    def test_confirmed_full_payment(self) -> None:
        expected = Settlement("paid", "none", AMOUNT, 0, START)
        assert settled(FakePayment(), head=101) == expected

    def test_confirmed_overpayment(self) -> None:
        expected = Settlement("paid", "over", 1300, 0, START)
        assert settled(FakePayment(1300), head=101) == expected

    def test_partial_payment_and_remainder_are_paid(self) -> None:
        part, rest = FakePayment(400), FakePayment(600, tx_hash="tx2", block_number=105)
        assert state(settled(part, rest, head=105)) == "processing+none"
        assert state(settled(part, rest, head=106)) == "paid+none"

    def test_two_transfers_of_one_transaction_both_count(self) -> None:
        assert state(settled(FakePayment(500), FakePayment(500), head=101)) == "paid+none"

    def test_reorganization_removes_the_payment(self) -> None:
        dropped = FakePayment(status="orphaned")
        was = FakeInvoice(status="processing")
        assert state(settled(dropped, invoice=was)) == "unpaid+reorged"
        after = {"checkpoint": LATE, "now": LATE}
        assert state(settled(dropped, invoice=was, **after)) == "expired+reorged"  # type: ignore[arg-type]

    def test_dropped_transaction_that_is_mined_again_counts_once(self) -> None:
        dropped = FakePayment(status="orphaned")
        again = FakePayment(block_hash="other", block_number=101)
        assert settled(dropped, again, head=102) == settled(again, head=102)

    def test_transaction_dropped_twice_is_subtracted_once(self) -> None:
        dropped = [FakePayment(400, status="orphaned", block_hash=name) for name in ("a", "b", "c")]
        assert state(settled(*dropped)) == "unpaid+none", "it was never enough"

    def test_invoice_expires_after_the_chain_was_read_past_the_expiry(self) -> None:
        assert state(settled(checkpoint=None, now=LATE)) == "unpaid+none"
        assert state(settled(checkpoint=EXPIRY, now=LATE)) == "unpaid+none"
        assert state(settled(checkpoint=LATE, now=EXPIRY)) == "unpaid+none"
        assert state(settled(checkpoint=LATE, now=LATE)) == "expired+none"

    def test_partial_payment_is_kept_at_expiry(self) -> None:
        assert state(settled(FakePayment(1), checkpoint=LATE, now=LATE)) == "expired+partial"

    def test_block_timestamp_decides_whether_a_payment_is_on_time(self) -> None:
        on_time = FakePayment(block_timestamp=EXPIRY)
        a_day = EXPIRY + timedelta(days=1)
        seen_late = settled(on_time, head=200, checkpoint=a_day, now=a_day)
        assert state(seen_late) == "paid+none"

    @pytest.mark.parametrize("amount", [1, AMOUNT, 5 * AMOUNT])
    def test_late_payment_does_not_pay(self, amount: int) -> None:
        late = FakePayment(amount, block_timestamp=LATE)
        result = settled(late, head=200, checkpoint=LATE, now=LATE)
        assert (state(result), result.amount_paid) == ("expired+late", amount)

    def test_late_remainder_does_not_complete_a_partial_payment(self) -> None:
        part, rest = FakePayment(400), FakePayment(600, tx_hash="2", block_timestamp=LATE)
        result = settled(part, rest, head=200, checkpoint=LATE, now=LATE)
        assert state(result) == "expired+late"

    def test_payment_to_a_canceled_invoice_is_late(self) -> None:
        canceled = FakeInvoice(status="canceled", canceled_at=START)
        result = settled(FakePayment(), invoice=canceled, head=200)
        assert state(result) == "canceled+late"
        assert state(settled(invoice=canceled)) == "canceled+none"

    def test_deep_reorganization_revokes_paid(self) -> None:
        paid = FakeInvoice(status="paid", paid_at=START)
        dropped = FakePayment(status="orphaned")
        again = FakePayment(block_hash="other", block_number=103)
        assert state(settled(dropped, invoice=paid, head=103)) == "unpaid+reorged"
        halfway = settled(dropped, again, invoice=paid, head=103)
        assert (state(halfway), halfway.paid_at) == ("processing+reorged", None)
        then = FakeInvoice(status="processing", exception="reorged")
        assert state(settled(dropped, again, invoice=then, head=103)) == "processing+reorged"
        assert state(settled(dropped, again, invoice=then, head=104)) == "paid+none"

    def test_time_of_payment_is_kept(self) -> None:
        earlier = START - timedelta(minutes=5)
        paid = FakeInvoice(status="paid", paid_at=earlier)
        assert settled(FakePayment(), invoice=paid, head=150).paid_at == earlier


class TestStatusAt:
    @pytest.mark.parametrize("status", ["processing", "paid", "expired", "canceled"])
    def test_clock_expires_only_unpaid_invoices(self, status: str) -> None:
        assert status_at(FakeInvoice(status=status), LATE) == status

    def test_clock_expires_unpaid_after_the_expiry(self) -> None:
        assert [status_at(FakeInvoice(), at) for at in (EXPIRY, LATE)] == ["unpaid", "expired"]


def test_stories_reach_exactly_the_states_of_the_table() -> None:
    """Every sequence of four steps ends in a state of the table, and every state is reached."""
    assert find_stories(longest=4).keys() == STATES


class RandomChain(RuleBasedStateMachine):
    """Random blocks, payments and reorganizations; the invoice is settled after each.

    The oracle computes totals from the chain alone, independent of the code under test.
    """

    def __init__(self) -> None:
        super().__init__()
        self.invoice = FakeInvoice()
        self.blocks: list[tuple[str, datetime]] = [("genesis", START)]
        self.payments: list[FakePayment] = []
        self.now = START
        self.names = count()
        self.settlement = settled()

    @rule(
        seconds=st.sampled_from([1, 12, 600, 1200]),
        amounts=st.lists(st.integers(1, 1500), max_size=2),
    )
    def mine(self, seconds: int, amounts: list[int]) -> None:
        self.now = max(self.now, self.blocks[-1][1] + timedelta(seconds=seconds))
        block = f"block{next(self.names)}"
        self.blocks.append((block, self.blocks[-1][1] + timedelta(seconds=seconds)))
        for amount in amounts:
            self.add(amount, f"tx{next(self.names)}", block)
        self.step()

    @precondition(lambda self: len(self.blocks) > 1)
    @rule(depth=st.integers(1, 5), keep=st.booleans())
    def reorg(self, depth: int, keep: bool) -> None:
        """Drop the newest blocks. Their transactions return in the next block or never."""
        depth = min(depth, len(self.blocks) - 1)
        gone = {name for name, _ in self.blocks[-depth:]}
        del self.blocks[-depth:]
        dropped = [p for p in self.payments if p.block_hash in gone and p.status != "orphaned"]
        self.payments = [
            replace(p, status="orphaned") if p.block_hash in gone else p for p in self.payments
        ]
        block = f"block{next(self.names)}"
        self.blocks.append((block, self.blocks[-1][1] + timedelta(seconds=1)))
        if keep:
            for payment in dropped:
                self.add(payment.amount, payment.tx_hash, block)
        self.step()

    @rule()
    def look_again(self) -> None:
        before = self.settlement
        self.step()
        assert self.settlement == before, "settling twice changes nothing"

    @precondition(lambda self: (self.invoice.status, self.invoice.exception) == ("unpaid", "none"))
    @rule()
    def cancel(self) -> None:
        self.invoice = replace(self.invoice, status="canceled", canceled_at=self.now)
        self.step()

    def add(self, amount: int, tx_hash: str, block: str) -> None:
        number, stamp = len(self.blocks) - 1, self.blocks[-1][1]
        self.payments.append(FakePayment(amount, "pending", tx_hash, number, block, stamp))

    def step(self) -> None:
        was = self.invoice.status
        self.settlement = settle(
            self.invoice,
            self.payments,
            head_number=len(self.blocks) - 1,
            checkpoint_time=self.blocks[-1][1],
            now=self.now,
        )
        assert self.settlement.status in TRANSITIONS[was]
        assert (self.settlement.status, self.settlement.exception) in STATES
        self.invoice = replace(
            self.invoice,
            status=self.settlement.status,
            exception=self.settlement.exception,
            paid_at=self.settlement.paid_at,
        )

    @invariant()
    def agrees_with_the_chain(self) -> None:
        head = len(self.blocks) - 1
        on_chain = {name for name, _ in self.blocks}
        here = [p for p in self.payments if p.block_hash in on_chain]
        timely = [p for p in here if p.block_timestamp <= EXPIRY]
        deep = [p for p in here if p.block_number + 1 <= head]
        result = self.settlement
        assert result.amount_paid == sum(p.amount for p in deep)
        assert result.amount_paid + result.amount_pending == sum(p.amount for p in here)
        if self.invoice.canceled_at is not None:
            assert state(result) == ("canceled+late" if here else "canceled+none")
            return
        is_paid = sum(p.amount for p in timely if p in deep) >= AMOUNT
        assert (result.status == "paid") == is_paid
        if not is_paid:
            assert (result.status == "processing") == (sum(p.amount for p in timely) >= AMOUNT)
        if result.status == "expired":
            assert self.blocks[-1][1] > EXPIRY
        if result.exception == "late":
            assert len(timely) < len(here)
        if result.exception == "partial":
            assert 0 < sum(p.amount for p in timely) < AMOUNT

    @invariant()
    def shows_paid_at_exactly_while_it_is_paid(self) -> None:
        assert (self.settlement.paid_at is not None) == (self.settlement.status == "paid")


TestRandomChain = RandomChain.TestCase
TestRandomChain.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
