"""One behavior on three chains: the watcher's requirements hold on fake, py-evm and anvil."""

from collections.abc import Iterator
from typing import Protocol

import pytest

from adapters.chain.reader import ChainReader, EndpointsUnavailable
from adapters.chain.rpc_reader import RpcChainReader
from demo.chain.testnet import PAYER, TOKEN
from tests.live.chain_fixture import LocalChain, running_anvil, running_pyevm
from tests.support.fake_chain import FakeChain, FakeLog

ANNA = "0x00000000000000000000000000000000000000A1"
BELA = "0x00000000000000000000000000000000000000b2"


class Chain(Protocol):
    """Actions of a test on any kind of chain."""

    def pay(self, to: str, atoms: int) -> object: ...

    def mine(self, count: int) -> object: ...

    def reorg(self, depth: int) -> object: ...


class ReaderBehaviour:
    """Subclasses provide the fixtures `chain` and `reader`."""

    def test_head_moves_with_the_chain(self, chain: Chain, reader: ChainReader) -> None:
        before = reader.head()
        chain.mine(3)
        after = reader.head()
        assert after.number == before.number + 3
        assert after.timestamp >= before.timestamp
        assert after.timestamp.tzinfo is not None
        assert reader.block(before.number) == before

    def test_finds_a_payment_by_its_receiver(self, chain: Chain, reader: ChainReader) -> None:
        chain.pay(ANNA, 5)
        chain.pay(BELA, 7)
        head = reader.head()
        [found] = reader.transfers([TOKEN], [ANNA], 0, head.number)
        assert (found.token, found.sender, found.receiver) == (TOKEN, PAYER, ANNA)
        assert (found.amount, found.block_number) == (5, head.number - 1)
        block = reader.block(head.number - 1)
        assert block is not None
        assert found.block_hash == block.hash
        assert found.tx_hash.startswith("0x")
        assert len(found.tx_hash) == 66

    def test_finds_all_transfers_without_receivers(self, chain: Chain, reader: ChainReader) -> None:
        for amount in (1, 0, 2):
            chain.pay(ANNA, amount)
        head = reader.head().number
        assert [each.amount for each in reader.transfers([TOKEN], None, head - 2, head)] == [
            1,
            0,
            2,
        ]

    def test_reads_exactly_the_requested_blocks(self, chain: Chain, reader: ChainReader) -> None:
        for amount in (1, 2, 3):
            chain.pay(ANNA, amount)
        middle = reader.head().number - 1
        assert [each.amount for each in reader.transfers([TOKEN], [ANNA], middle, middle)] == [2]

    def test_finds_the_largest_payment(self, chain: Chain, reader: ChainReader) -> None:
        chain.pay(ANNA, 2**255 + 1)
        head = reader.head().number
        assert reader.transfers([TOKEN], [ANNA], head, head)[0].amount == 2**255 + 1

    def test_finds_nothing_of_another_token(self, chain: Chain, reader: ChainReader) -> None:
        chain.pay(ANNA, 1)
        assert reader.transfers([BELA], None, 0, reader.head().number) == []

    def test_reorganization_removes_payments_and_changes_hashes(
        self, chain: Chain, reader: ChainReader
    ) -> None:
        before = reader.head()
        chain.pay(ANNA, 5)
        chain.mine(2)
        dropped = reader.head()
        chain.reorg(3)
        head = reader.head()
        assert head.number == dropped.number
        assert head.hash != dropped.hash
        assert reader.block(before.number) == before
        assert reader.transfers([TOKEN], [ANNA], 0, head.number) == []

    def test_no_block_above_the_head(self, chain: Chain, reader: ChainReader) -> None:
        assert reader.block(reader.head().number + 1) is None

    def test_logs_above_the_head_are_rejected(self, chain: Chain, reader: ChainReader) -> None:
        head = reader.head().number
        with pytest.raises(EndpointsUnavailable):
            reader.transfers([TOKEN], None, head + 1, head + 1)


class TestFakeChain(ReaderBehaviour):
    @pytest.fixture
    def chain(self) -> FakeChain:
        return FakeChain()

    @pytest.fixture
    def reader(self, chain: FakeChain) -> ChainReader:
        return chain

    def test_dropped_payment_counts_when_it_is_mined_again(self) -> None:
        chain = FakeChain()
        paid = chain.transact([FakeLog(TOKEN, PAYER, ANNA, 5), FakeLog(TOKEN, PAYER, ANNA, 6)])
        first = chain.canonical_transfers()
        chain.reorg(1)
        chain.mine()
        again = chain.canonical_transfers()
        assert [each.amount for each in again] == [5, 6]
        assert {each.tx_hash for each in again} == {paid.hash}
        assert {each.block_hash for each in again}.isdisjoint(each.block_hash for each in first)


class LocalChainBehaviour(ReaderBehaviour):
    """Behavior of the embedded chain beyond reading."""

    @pytest.fixture
    def reader(self, chain: LocalChain) -> Iterator[ChainReader]:
        reader = RpcChainReader([chain.url], 31337, 5.0, lambda: 0)
        yield reader
        reader.close()

    def test_deploys_the_token_once_at_its_known_address(self, chain: LocalChain) -> None:
        height = chain.height
        assert chain.ensure_token() == TOKEN
        assert chain.height == height
        assert chain.balance(PAYER) == 2**256 - 1

    def test_each_transaction_is_mined_immediately(self, chain: LocalChain) -> None:
        height = chain.height
        chain.pay(ANNA, 5)
        assert chain.height == height + 1
        assert chain.balance(ANNA) == 5

    def test_transactions_can_be_held_back(self, chain: LocalChain) -> None:
        chain.hold_blocks()
        sent = [chain.submit_pay(ANNA, 1), chain.submit_pay(ANNA, 2)]
        assert chain.balance(ANNA) == 0
        assert chain.call("eth_getTransactionReceipt", sent[0]) is None
        height = chain.mine(1)
        assert chain.balance(ANNA) == 3
        receipts = [chain.call("eth_getTransactionReceipt", each) for each in sent]
        assert [int(each["blockNumber"], 16) for each in receipts] == [height, height]
        chain.resume_blocks()

    def test_pays_by_a_contract(self, chain: LocalChain, reader: ChainReader) -> None:
        contract = chain.deploy_payer_contract(100)
        chain.pay_by_contract(contract, ANNA, 7)
        [found] = reader.transfers([TOKEN], [ANNA], 0, reader.head().number)
        assert (found.sender, found.amount) == (contract, 7)

    def test_pays_twice_in_one_transaction(self, chain: LocalChain, reader: ChainReader) -> None:
        contract = chain.deploy_payer_contract(100)
        chain.pay_twice_by_contract(contract, ANNA, 7, 8)
        first, second = reader.transfers([TOKEN], [ANNA], 0, reader.head().number)
        assert (first.amount, second.amount) == (7, 8)
        assert first.tx_hash == second.tx_hash
        assert first.log_index < second.log_index

    def test_native_coin_is_not_a_transfer(self, chain: LocalChain, reader: ChainReader) -> None:
        chain.pay_native(ANNA, 10**18)
        assert reader.transfers([TOKEN], [ANNA], 0, reader.head().number) == []
        assert chain.quantity("eth_getBalance", ANNA, "latest") == 10**18

    def test_other_token_has_another_address(self, chain: LocalChain, reader: ChainReader) -> None:
        wrong = chain.deploy_second_token()
        chain.pay(ANNA, 5, token=wrong)
        head = reader.head().number
        assert reader.transfers([TOKEN], [ANNA], 0, head) == []
        assert [each.amount for each in reader.transfers([wrong], [ANNA], 0, head)] == [5]

    def test_mining_ahead_does_not_move_the_clock(
        self, chain: LocalChain, reader: ChainReader
    ) -> None:
        before = reader.head().timestamp
        chain.mine(50)
        assert (reader.head().timestamp - before).total_seconds() < 20

    def test_clock_can_be_moved(self, chain: LocalChain, reader: ChainReader) -> None:
        before = reader.head().timestamp
        chain.advance_clock(3600)
        chain.mine(1)
        assert 3600 <= (reader.head().timestamp - before).total_seconds() < 3620

    def test_payments_continue_after_a_reorganization(
        self, chain: LocalChain, reader: ChainReader
    ) -> None:
        chain.pay(ANNA, 5)
        chain.mine(1)
        chain.reorg(2)
        chain.pay(ANNA, 6)
        head = reader.head().number
        assert [each.amount for each in reader.transfers([TOKEN], [ANNA], 0, head)] == [6]


class TestAnvil(LocalChainBehaviour):
    @pytest.fixture
    def chain(self) -> Iterator[LocalChain]:
        with running_anvil() as chain:
            yield chain


class TestPyEvm(LocalChainBehaviour):
    @pytest.fixture
    def chain(self) -> Iterator[LocalChain]:
        with running_pyevm() as chain:
            yield chain
