"""The watcher's view of a chain: the protocol, its records and its errors."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from adapters.chain.question_limits import QuestionLimits

# keccak256("Transfer(address,address,uint256)"), the first topic of every ERC-20 transfer log.
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


@dataclass(frozen=True, slots=True)
class Block:
    """One block's place in the chain: hashes are 0x + 64 lower-case hex, `timestamp` aware UTC.

    `bloom` is the header's logs bloom (256 bytes), or empty if the node shows none. `is_empty`: the
    node shows that the block has no transactions.
    """

    number: int
    hash: str
    timestamp: datetime
    parent_hash: str = field(default="", compare=False)
    bloom: bytes = field(default=b"", compare=False, repr=False)
    is_empty: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Transfer:
    """One ERC-20 Transfer log: addresses EIP-55, `amount` atoms, hashes 0x + 64 lower-case hex."""

    token: str
    sender: str
    receiver: str
    amount: int
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str


class RangeTooLarge(Exception):
    """The endpoint refuses this many blocks or logs at once. Its `limits` are narrower now."""


class BlockUnreadable(Exception):
    """The endpoint does not give the logs of this block now: the node that answered may lack the
    block, or may not take the request.
    """


class EndpointsUnavailable(Exception):
    """No configured endpoint gives a usable answer now; the text names endpoints by host only."""


class BlockMissing(EndpointsUnavailable):
    """The endpoint answers null for a block below the head that it has just shown: one of its nodes
    lacks the block. That does not mean that the chain has lost it.
    """


class EndpointsBehind(EndpointsUnavailable):
    """All endpoints answer, all are behind the checkpoint: a node syncs, or the chain is new."""


class ChainReplaced(EndpointsUnavailable):
    """Every endpoint that answers serves another chain than the one that was read before: its
    block 0 is another one.
    """


class ChainReader(Protocol):
    """A chain seen by one watcher step. Calls block; each may raise `EndpointsUnavailable`.

    `head()` begins a step: it chooses the endpoint, and the other methods use that same endpoint
    until the next `head()`, so that one step never mixes two endpoints' views of the chain.
    """

    @property
    def limits(self) -> QuestionLimits:
        """The limits of the step's endpoint."""
        ...

    @property
    def narrowest(self) -> int:
        """The number of blocks that each of the endpoints takes in one request."""
        ...

    def head(self) -> Block:
        """Return the newest block of the first usable endpoint."""
        ...

    def others(self, at_least: int | None = None) -> Generator[Block]:
        """Yield the newest block of each of the other usable endpoints that have block `at_least`,
        the checkpoint by default.

        Until the next one, requests go to that endpoint, and at the end to the step's one again,
        even if that has failed before.
        """
        ...

    def block(self, number: int) -> Block | None:
        """Return the canonical block with this number, or None above the endpoint's head.

        Raise `BlockMissing`.
        """
        ...

    def genesis(self) -> Block | None:
        """Return block 0, or None where the endpoint has pruned it."""
        ...

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        """Return the Transfer logs of `tokens` in blocks `first`..`last`, in chain order.

        `receivers` None means all of them. `last` must not be above the head. Zero-value transfers
        are included. Raise `RangeTooLarge` when the endpoint wants a smaller request.
        """
        ...

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        """Return the same of one block, requested by its hash (EIP-234).

        Raise `BlockUnreadable` for a node that lacks the block, which answers with an error instead
        of an empty list, and `RangeTooLarge` when the answer would be too large.
        """
        ...

    def transfers_of(
        self, tx_hash: str, tokens: Sequence[str], block: Block
    ) -> list[Transfer] | None:
        """Return the Transfer logs of `tokens` in a transaction's receipt, or None if the endpoint
        has no receipt of this transaction in this block.
        """
        ...

    def is_kept_elsewhere(self, number: int, block_hash: str) -> bool:
        """Return whether at least half of the endpoints that are as far as the step's one have this
        block on their chain.

        If so, the next `head()` prefers one of them.
        """
        ...

    def is_disputed(self, number: int, block_hash: str) -> bool:
        """Return whether another endpoint, as far as the step's one, has another block with this
        number.

        If most of the endpoints have the same other block, the next `head()` prefers one of them.
        """
        ...

    def may_be_kept_elsewhere(self) -> bool:
        """Return whether another endpoint is silent now and answered some minutes ago: it may still
        have blocks that the step's one does not have.
        """
        ...
