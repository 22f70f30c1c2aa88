"""An in-memory chain for tests: scripted blocks, transfers, reorgs, range limits and outages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.chain.question_limits import Exhausted, QuestionLimits
from adapters.chain.reader import (
    Block,
    BlockUnreadable,
    EndpointsUnavailable,
    RangeTooLarge,
    Transfer,
)

TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
GENESIS = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FakeLog:
    """One Transfer log before it is in a block: the effect of a transaction in any block."""

    token: str
    sender: str
    receiver: str
    amount: int


@dataclass(frozen=True, slots=True)
class FakeTransaction:
    """A transaction. It keeps its hash when a reorg moves it into another block."""

    hash: str
    logs: tuple[FakeLog, ...]


@dataclass(slots=True)
class _Mined:
    block: Block
    transactions: list[FakeTransaction]
    transfers: list[Transfer]


class FakeChain:
    """A `ChainReader` whose chain is controlled by the test.

    `pay` and `transact` mine one block each. With `hold=True` the transaction stays in `pending`,
    which the next mined block includes. `reorg` replaces the newest blocks by others of the same
    number, and returns the dropped transactions to `pending`, unless `lose` is set.

    Faults: `down` (every call fails), `range_limit` (maximum number of blocks per `transfers`),
    `log_limit` (maximum number of logs per response), `on_transfers` (called before each response,
    for example to reorg in the middle of a step), `numbers_per_transaction` (each transaction's
    logs are numbered from 0, as by some gateways). `asked` records every query for logs as (tokens,
    receivers, first, last).
    """

    def __init__(self, *, started_at: datetime = GENESIS, block_seconds: int = 1) -> None:
        self.block_seconds = block_seconds
        self.pending: list[FakeTransaction] = []
        self.down = False
        self.range_limit: int | None = None
        self.log_limit: int | None = None
        self.numbers_per_transaction = False
        self.on_transfers: list[Callable[[], object]] = []
        self.asked: list[tuple[tuple[str, ...], tuple[str, ...] | None, int, int]] = []
        self.limits = QuestionLimits(1000)
        self._serial = 0
        self._blocks: list[_Mined] = []
        self._append(started_at, [])

    # The methods for the watcher.

    def head(self) -> Block:
        self._answer()
        return self._blocks[-1].block

    @property
    def narrowest(self) -> int:
        return self.limits.width

    def others(self, at_least: int | None = None) -> Generator[Block]:
        yield from ()

    def genesis(self) -> Block | None:
        return self._blocks[0].block

    def block(self, number: int) -> Block | None:
        self._answer()
        return self._blocks[number].block if 0 <= number < len(self._blocks) else None

    def is_kept_elsewhere(self, number: int, block_hash: str) -> bool:
        return False

    def is_disputed(self, number: int, block_hash: str) -> bool:
        return False

    def transfers_of(
        self, tx_hash: str, tokens: Sequence[str], block: Block
    ) -> list[Transfer] | None:
        found = self.transfers(tokens, None, block.number, block.number)
        return [each for each in found if each.tx_hash == tx_hash]

    def may_be_kept_elsewhere(self) -> bool:
        return False

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        found = self.transfers(tokens, receivers, block.number, block.number)
        if self.block(block.number) != block:
            raise BlockUnreadable("unknown block")
        return found

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        self._answer()
        asked = None if receivers is None else tuple(receivers)
        self.asked.append((tuple(tokens), asked, first, last))
        while self.on_transfers:
            self.on_transfers.pop(0)()
        if self.range_limit is not None and last - first + 1 > self.range_limit:
            self._refuse(first, last, receivers, f"at most {self.range_limit} blocks")
        if last >= len(self._blocks):
            raise EndpointsUnavailable("asked for blocks above the head")
        wanted = None if receivers is None else {receiver.lower() for receiver in receivers}
        of_tokens = {token.lower() for token in tokens}
        found = [
            transfer
            for mined in self._blocks[first : last + 1]
            for transfer in mined.transfers
            if transfer.token.lower() in of_tokens
            and (wanted is None or transfer.receiver.lower() in wanted)
        ]
        if self.log_limit is not None and len(found) > self.log_limit:
            self._refuse(first, last, receivers, f"more than {self.log_limit} logs")
        self.limits.accept(last - first + 1)
        return found

    def _refuse(self, first: int, last: int, receivers: Sequence[str] | None, reason: str) -> None:
        try:
            self.limits.refuse(last - first + 1, all_receivers=receivers is None, worded=True)
        except Exhausted:
            raise EndpointsUnavailable(reason) from None
        raise RangeTooLarge(reason)

    # The methods for tests.

    @property
    def height(self) -> int:
        """The head's number, regardless of faults."""
        return self._blocks[-1].block.number

    def mine(self, count: int = 1, *, at: datetime | None = None) -> Block:
        """Mine `count` blocks. The first includes all pending transactions and has the
        time `at`.
        """
        for _ in range(count):
            stamp = at or self._blocks[-1].block.timestamp + timedelta(seconds=self.block_seconds)
            transactions, self.pending, at = self.pending, [], None
            self._append(stamp, transactions)
        return self._blocks[-1].block

    def pay(
        self,
        receiver: str,
        amount: int,
        *,
        token: str = TOKEN,
        sender: str = PAYER,
        at: datetime | None = None,
        hold: bool = False,
    ) -> FakeTransaction:
        """Send one transfer in one transaction, mined immediately unless held."""
        return self.transact([FakeLog(token, sender, receiver, amount)], at=at, hold=hold)

    def transact(
        self, logs: Sequence[FakeLog], *, at: datetime | None = None, hold: bool = False
    ) -> FakeTransaction:
        """Send any number of transfers in one transaction, mined immediately unless held."""
        transaction = FakeTransaction(self._new_hash("transaction"), tuple(logs))
        self.pending.append(transaction)
        if not hold:
            self.mine(at=at)
        return transaction

    def reorg(self, depth: int, *, length: int | None = None, lose: bool = False) -> Block:
        """Replace the newest `depth` blocks by `length` (default `depth`) empty ones.

        The dropped transactions are then pending, so `mine` includes them in a block with another
        hash. With `lose` they never return.
        """
        if not 0 < depth < len(self._blocks):
            raise ValueError(f"depth must be 1..{len(self._blocks) - 1}, not {depth}")
        dropped = self._blocks[-depth:]
        del self._blocks[-depth:]
        waiting = self.pending
        self.pending = []
        self.mine(depth if length is None else length)
        again = [] if lose else [each for mined in dropped for each in mined.transactions]
        self.pending = again + waiting
        return self._blocks[-1].block

    def restart(self, *, started_at: datetime | None = None) -> None:
        """Start a new chain at the same address, like a test chain without saved state."""
        self._blocks = []
        self.pending = []
        self._append(started_at or GENESIS, [])

    def canonical_transfers(self) -> list[Transfer]:
        """Return every transfer on the current chain, to compare with the watcher's records."""
        return [transfer for mined in self._blocks for transfer in mined.transfers]

    def _answer(self) -> None:
        if self.down:
            raise EndpointsUnavailable("the fake chain is down")

    def _new_hash(self, kind: str) -> str:
        self._serial += 1
        return "0x" + hashlib.sha256(f"{kind} {self._serial}".encode()).hexdigest()

    def _append(self, timestamp: datetime, transactions: list[FakeTransaction]) -> None:
        parent = self._blocks[-1].block.hash if self._blocks else "0x" + "0" * 64
        block = Block(len(self._blocks), self._new_hash("block"), timestamp, parent)
        logs = [
            (each.hash, within, log)
            for each in transactions
            for within, log in enumerate(each.logs)
        ]
        transfers = [
            Transfer(
                token=log.token,
                sender=log.sender,
                receiver=log.receiver,
                amount=log.amount,
                tx_hash=tx_hash,
                log_index=within if self.numbers_per_transaction else index,
                block_number=block.number,
                block_hash=block.hash,
            )
            for index, (tx_hash, within, log) in enumerate(logs)
        ]
        self._blocks.append(_Mined(block, transactions, transfers))
