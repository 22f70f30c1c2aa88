"""The effect of every chain event on a merchant's invoice."""

from datetime import timedelta

import pytest

from adapters.chain.question_limits import QuestionLimits
from tests.support.fake_chain import PAYER, TOKEN, FakeChain, FakeLog
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, Ledger, State, at, watch, watcher_of
from workers.chain_watcher import ChainWatcher

OTHER_TOKEN = "0x" + "9" * 40


@pytest.fixture
def watcher(ledger: Ledger, chain: FakeChain) -> ChainWatcher:
    watcher = watcher_of(ledger, chain, may_replace=True)
    watch(watcher)
    return watcher


class TestPayments:
    def test_an_exact_payment_is_processing_then_paid(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        assert ledger.state(invoice) == State("processing", "none", 0, 1000)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)
        assert ledger.events(invoice) == [
            ("unpaid", "processing", "none"),
            ("processing", "paid", "none"),
        ]

    def test_a_part_and_the_rest_make_it_paid(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 400)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "partial", 0, 400)
        chain.pay(invoice.deposit_address, 600)
        watch(watcher)
        assert ledger.state(invoice) == State("processing", "none", 400, 600)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)

    def test_too_much_is_paid_and_over(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1500)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "over", 1500, 0)

    def test_the_largest_amount_is_exact(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(2**256 - 1)
        chain.pay(invoice.deposit_address, 2**256 - 1)
        chain.pay(invoice.deposit_address, 2**256 - 1)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "over", 2**257 - 2, 0)

    def test_another_token_the_native_coin_and_zero_are_nothing(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000, token=OTHER_TOKEN)
        chain.transact([])  # the native coin has no log
        chain.pay(invoice.deposit_address, 0)
        chain.mine(5)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "none", 0, 0)
        assert ledger.payments(invoice) == []

    def test_two_transfers_in_one_transaction_count_once_each(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice, other = ledger.invoice(1000), ledger.invoice(50)
        chain.transact(
            [
                FakeLog(TOKEN, PAYER, invoice.deposit_address, 500),
                FakeLog(TOKEN, PAYER, other.deposit_address, 50),
                FakeLog(TOKEN, PAYER, invoice.deposit_address, 500),
            ]
        )
        chain.mine()
        watch(watcher)
        assert ledger.payments(invoice) == [("confirmed", 500), ("confirmed", 500)]
        assert ledger.state(invoice).status == ledger.state(other).status == "paid"

    def test_three_confirmations_take_three_blocks(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000, confirmations=3)
        chain.pay(invoice.deposit_address, 1000)
        seen = []
        for _ in range(3):
            watch(watcher)
            seen.append(ledger.state(invoice).status)
            chain.mine()
        assert seen == ["processing", "processing", "paid"]


class TestTime:
    def test_a_payment_after_the_expiry_is_late(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000, lifetime=timedelta(seconds=100))
        chain.pay(invoice.deposit_address, 400, at=at(100))
        chain.pay(invoice.deposit_address, 1000, at=at(101))
        clock.advance(seconds=102)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("expired", "late", 1400, 0)

    def test_a_payment_at_the_very_expiry_is_on_time(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000, lifetime=timedelta(seconds=100))
        chain.pay(invoice.deposit_address, 1000, at=at(100))
        chain.mine()
        clock.advance(seconds=500)
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)

    def test_downtime_over_an_on_time_payment_does_not_make_it_late(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000, at=at(60))
        chain.mine(1000, at=at(7200))
        clock.advance(seconds=3 * 86400)  # past the expiry, and past the monitoring by the clock
        watch(watcher_of(ledger, chain, log_range=100))
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)

    def test_a_canceled_invoice_stays_canceled(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        ledger.cancel(invoice)
        chain.pay(invoice.deposit_address, 1000)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("canceled", "late", 1000, 0)

    def test_nothing_counts_after_the_monitoring_has_ended(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000, monitoring=timedelta(seconds=50))
        watch(watcher)
        clock.advance(seconds=60)
        chain.pay(invoice.deposit_address, 100, at=at(50))
        chain.pay(invoice.deposit_address, 200, at=at(51))  # in the same range as the last block
        watch(watcher)
        asked = len(chain.asked)
        chain.pay(invoice.deposit_address, 400)
        watch(watcher)
        assert ledger.payments(invoice) == [("confirmed", 100)]
        assert len(chain.asked) == asked


class TestReorganisations:
    def test_a_dropped_payment_is_gone_and_counts_once_when_mined_again(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        chain.reorg(1)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "reorged", 0, 0)
        chain.mine(2)
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)
        assert ledger.payments(invoice) == [("orphaned", 1000), ("confirmed", 1000)]

    def test_a_payment_mined_again_in_the_new_branch_never_looks_lost(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        chain.reorg(1)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("processing", "none", 0, 1000)
        assert ledger.events(invoice) == [("unpaid", "processing", "none")]

    def test_a_reorganisation_deeper_than_the_confirmations_takes_paid_back(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.mine(3)
        chain.pay(invoice.deposit_address, 1000)
        chain.mine(4)
        watch(watcher)
        assert ledger.state(invoice).status == "paid"
        chain.reorg(6)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "reorged", 0, 0)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("processing", "none", 0, 1000)
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)

    def test_a_dropped_block_that_returns_revives_its_payment(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        branch = list(chain._blocks)
        chain.reorg(1, length=2, lose=True)
        watch(watcher)
        assert ledger.state(invoice).status == "unpaid"
        chain._blocks = branch
        chain.mine(2)
        watch(watcher)
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)
        assert ledger.payments(invoice) == [("confirmed", 1000)]

    def test_a_reorganisation_moves_a_payment_past_the_expiry(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000, lifetime=timedelta(seconds=100))
        chain.pay(invoice.deposit_address, 1000, at=at(99))
        watch(watcher)
        chain.reorg(1)
        clock.advance(seconds=120)
        chain.mine(2, at=at(110))
        watch(watcher)
        assert ledger.state(invoice) == State("expired", "late", 1000, 0)

    def test_reorganisations_during_a_leap_are_walked_back_to_the_block_before_it(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        watch(watcher)
        chain.mine(700)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        chain.reorg(20)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "reorged", 0, 0)
        assert ledger.checkpoint() == chain.height

    def test_an_endpoint_that_lags_changes_nothing(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.mine(5)
        watch(watcher)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        whole = list(chain._blocks)
        chain._blocks = whole[:-1]
        assert watch(watcher) == 0
        assert ledger.state(invoice).status == "processing"
        chain._blocks = whole
        chain.mine()
        watch(watcher)
        assert ledger.state(invoice).status == "paid"

    def test_a_new_chain_under_the_old_books_is_read_from_its_start(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        kept, lost = ledger.invoice(1000), ledger.invoice(1000)
        chain.mine(30)
        chain.pay(lost.deposit_address, 1000)
        chain.mine(3)
        watch(watcher)
        assert ledger.state(lost).status == "paid"
        chain.restart()
        chain.pay(kept.deposit_address, 1000)
        chain.mine(3)
        watch(watcher)
        assert ledger.state(kept) == State("paid", "none", 1000, 0)
        assert ledger.state(lost) == State("unpaid", "reorged", 0, 0)
        chain.mine(100)
        chain.pay(lost.deposit_address, 1000)
        chain.mine()
        watch(watcher)
        assert ledger.state(lost) == State("paid", "none", 1000, 0)
        assert ledger.checkpoint() == chain.height

    def test_a_new_chain_that_is_longer_is_noticed_too(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        watch(watcher)
        chain.restart()
        chain.mine(1500)
        watch(watcher)
        assert ledger.state(invoice) == State("unpaid", "reorged", 0, 0)
        assert ledger.checkpoint() == chain.height


class TestReading:
    @pytest.mark.parametrize("limit", [500, 1])
    def test_two_thousand_blocks_behind_with_a_range_limit(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher, limit: int
    ) -> None:
        blocks = 2000 if limit > 1 else 60
        invoices = [ledger.invoice(1000, lifetime=timedelta(hours=2)) for _ in range(20)]
        watch(watcher)
        for invoice in invoices:
            chain.mine(blocks // 20 - 1)
            chain.pay(invoice.deposit_address, 1000)
        chain.mine()
        chain.range_limit = limit
        watch(watcher, most=400)
        assert {ledger.state(invoice).status for invoice in invoices} == {"paid"}
        assert ledger.checkpoint() == chain.height
        refused = [each for each in chain.asked if each[3] - each[2] + 1 > limit]
        assert len(refused) <= 12, "it settles just below what the endpoint takes"

    def test_the_range_recovers_after_refusals(self, ledger: Ledger, chain: FakeChain) -> None:
        seconds = [0.0]
        chain.limits = QuestionLimits(1000, clock=lambda: seconds[0])
        watcher = watcher_of(ledger, chain)
        ledger.invoice(1000)
        watch(watcher)
        chain.range_limit = 40
        chain.mine(500)
        watch(watcher)
        chain.range_limit = None
        chain.mine(500)
        watch(watcher)
        assert max(last - first + 1 for _, _, first, last in chain.asked[-8:]) < 80
        seconds[0] += 3600
        for _ in range(2):
            chain.mine(1000)
            watch(watcher)
        assert max(last - first + 1 for _, _, first, last in chain.asked[-8:]) >= 80

    def test_a_log_limit_is_met_by_fewer_blocks_and_then_fewer_receivers(
        self, ledger: Ledger, chain: FakeChain
    ) -> None:
        watcher = watcher_of(ledger, chain, many=3)
        watch(watcher)
        invoices = [ledger.invoice(1000) for _ in range(6)]
        watch(watcher)
        chain.log_limit = 2
        chain.transact([FakeLog(TOKEN, PAYER, each.deposit_address, 1000) for each in invoices])
        chain.mine()
        watch(watcher)
        assert {ledger.state(invoice).status for invoice in invoices} == {"paid"}

    def test_with_many_open_invoices_whole_blocks_are_read(
        self, ledger: Ledger, chain: FakeChain
    ) -> None:
        watcher = watcher_of(ledger, chain, many=3)
        watch(watcher)
        invoices = [ledger.invoice(1000) for _ in range(4)]
        watch(watcher)
        chain.pay(invoices[2].deposit_address, 1000)
        chain.pay("0x" + "8" * 40, 1000)
        chain.pay(invoices[3].deposit_address, 1000, token=OTHER_TOKEN)
        chain.mine()
        watch(watcher)
        assert [ledger.state(invoice).status for invoice in invoices] == [
            "unpaid",
            "unpaid",
            "paid",
            "unpaid",
        ]
        assert chain.asked[-1][:2] == ((TOKEN,), None)

    def test_a_chain_that_is_down_fails_the_step_and_is_read_on_afterwards(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        invoice = ledger.invoice(1000)
        chain.pay(invoice.deposit_address, 1000)
        chain.mine()
        chain.down = True
        with pytest.raises(Exception, match="down"):
            watcher.try_watch_one()
        chain.down = False
        watch(watcher)
        assert ledger.state(invoice).status == "paid"

    def test_a_quiet_chain_costs_one_question_and_no_write(
        self, ledger: Ledger, chain: FakeChain, watcher: ChainWatcher
    ) -> None:
        ledger.invoice(1000)
        watch(watcher)
        asked = len(chain.asked)
        assert not watcher.try_watch_one()
        assert len(chain.asked) == asked

    def test_a_first_watcher_on_an_old_chain_finds_what_is_already_paid(
        self, ledger: Ledger, chain: FakeChain, clock: FrozenClock
    ) -> None:
        chain.block_seconds = 60
        chain.mine(5000)
        clock.advance(seconds=5000 * 60)
        invoice = ledger.invoice(1000)
        assert invoice.creation_block is None
        chain.pay(invoice.deposit_address, 1000)
        chain.mine(200)
        watch(watcher_of(ledger, chain))
        assert ledger.state(invoice) == State("paid", "none", 1000, 0)
        assert min(first for _, _, first, _ in chain.asked) > 4900
        assert invoice.chain_id == CHAIN_ID
