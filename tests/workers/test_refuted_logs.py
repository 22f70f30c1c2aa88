"""A block's header overrules the logs that an endpoint shows, and no log of one stops a chain."""

from dataclasses import replace

import pytest

from adapters.chain.reader import Transfer
from models.database import Database
from models.payment.rescans import rescan_invoice
from models.payment.tables import Invoice
from tests.support.fake_chain import PAYER, TOKEN
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import State
from tests.workers.lying_nodes import Conduct
from tests.workers.scripted_endpoints import Street, street

STRANGER = "0x" + "8" * 40


def forged(its: Street, invoice: Invoice, number: int) -> Transfer:
    return Transfer(
        token=TOKEN,
        sender=PAYER,
        receiver=invoice.deposit_address,
        amount=1000,
        tx_hash="0x" + "f" * 64,
        log_index=7,
        block_number=number,
        block_hash=its.chain._blocks[number].block.hash,
    )


@pytest.mark.parametrize("has_other_logs", [False, True])
@pytest.mark.parametrize("takes_hashes", [True, False])
def test_a_forged_log_pays_no_invoice(
    database: Database, clock: FrozenClock, has_other_logs: bool, takes_hashes: bool
) -> None:
    with street(database, clock, endpoints=2) as its:
        invoice, honest = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(2)
        clock.advance(seconds=2)
        if has_other_logs:
            its.chain.pay(STRANGER, 5, at=clock.now())
        else:
            its.chain.mine(at=clock.now())
        log = forged(its, invoice, its.chain.height)
        for endpoint in its.endpoints:
            endpoint.conduct = Conduct(forged=(log,), takes_hashes=takes_hashes)
        its.watch()
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(5)
        its.ledger.database.run(lambda session: rescan_invoice(session, invoice.id))
        its.mine(60)
        assert its.told(invoice) == []
        assert its.ledger.state(honest) == State("paid", "none", 1000, 0)
        assert its.ledger.checkpoint() == its.chain.height


def test_a_log_counts_on_a_chain_that_shows_no_blooms(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        its.endpoints[0].shows_blooms = False
        invoice = its.ledger.invoice(1000)
        its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.mine(3)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)


def test_a_log_of_a_block_that_is_not_on_the_chain_stops_nothing(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock) as its:
        invoice, honest = its.ledger.invoice(1000), its.ledger.invoice(1000)
        its.mine(2)
        log = replace(forged(its, invoice, 2), block_hash="0x" + "e" * 64, block_number=5)
        its.endpoints[0].conduct = Conduct(forged=(log,), takes_hashes=False)
        its.chain.pay(honest.deposit_address, 1000, hold=True)
        its.mine(20)
        assert its.told(invoice) == []
        assert its.ledger.state(honest) == State("paid", "none", 1000, 0)
        assert its.ledger.checkpoint() == its.chain.height


def test_a_log_that_was_hidden_in_a_range_is_found_by_the_second_reading_soon(
    database: Database, clock: FrozenClock
) -> None:
    with street(database, clock, block_seconds=12) as its:
        its.endpoints[0].conduct = Conduct(takes_hashes=False)
        invoice = its.ledger.invoice(1000)
        its.mine(30)
        paid = its.chain.pay(invoice.deposit_address, 1000, hold=True)
        its.endpoints[0].conduct.hidden = frozenset({paid.hash})
        its.mine(2)
        its.endpoints[0].conduct.hidden = frozenset()
        its.mine(40)
        assert its.ledger.state(invoice) == State("paid", "none", 1000, 0)
