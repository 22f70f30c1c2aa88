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
    """A block header. Hashes are 0x and 64 lower-case hex digits; `timestamp` is aware and in UTC.

    `bloom` is the header's logs bloom (256 bytes), or empty if the node does not send it.
    `is_empty`: the node's response lists no transactions.
    """

    number: int
    hash: str
    timestamp: datetime
    parent_hash: str = field(default="", compare=False)
    bloom: bytes = field(default=b"", compare=False, repr=False)
    is_empty: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Transfer:
    """An ERC-20 Transfer log. Addresses have EIP-55 checksums, `amount` is in atoms, and hashes are
    0x and 64 lower-case hex digits.
    """

    token: str
    sender: str
    receiver: str
    amount: int
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str


class RangeTooLarge(Exception):
    """The request has too many blocks or logs for the endpoint. Its `limits` are now narrower."""


class BlockUnreadable(Exception):
    """The endpoint cannot return the logs of this block now: the node that answered may not have
    the block or may not support the request.
    """


class EndpointsUnavailable(Exception):
    """No configured endpoint gives a usable response now. The message contains hosts, not URLs."""


class BlockMissing(EndpointsUnavailable):
    """The endpoint returns null for a block below the head that it has just returned: one of its
    nodes does not have the block. The block may still be on the chain.
    """


class EndpointsBehind(EndpointsUnavailable):
    """All endpoints answer but are behind the checkpoint: nodes are syncing or the chain is new."""


class ChainReplaced(EndpointsUnavailable):
    """All endpoints serve another chain than the one that was read before: their block 0 is
    different.
    """


class ChainReader(Protocol):
    """A chain as read by the watcher. Calls block, and each may raise `EndpointsUnavailable`.

    `head()` starts a step: it chooses the endpoint that the other methods use until the next
    `head()`, so that a step never mixes the views of two endpoints.
    """

    @property
    def limits(self) -> QuestionLimits:
        """The limits of the step's endpoint."""
        ...

    @property
    def narrowest(self) -> int:
        """The number of blocks that every endpoint accepts in one request."""
        ...

    def head(self) -> Block:
        """Return the newest block of the first usable endpoint."""
        ...

    def others(self, at_least: int | None = None) -> Generator[Block]:
        """Yield the newest block of each other usable endpoint whose head is at least `at_least`,
        by default the checkpoint.

        After each yield, requests go to that endpoint. When the iteration ends, they go to the
        step's endpoint again, even if it has failed.
        """
        ...

    def block(self, number: int) -> Block | None:
        """Return the canonical block with this number, or None above the endpoint's head.

        Raise `BlockMissing`.
        """
        ...

    def genesis(self) -> Block | None:
        """Return block 0, or None if the endpoint has pruned it."""
        ...

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        """Return the Transfer logs of `tokens` in blocks `first`..`last`, in chain order.

        If `receivers` is None, transfers to all receivers are returned. `last` must not be above
        the head. Transfers of zero are included. Raise `RangeTooLarge` if the endpoint requires a
        smaller request.
        """
        ...

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        """Return the Transfer logs of `tokens` in one block, requested by its hash (EIP-234).

        A node without the block returns an error for its hash, instead of an empty list. Raise
        `BlockUnreadable` then, and `RangeTooLarge` if the response would be too large.
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
        """Return whether enough of the other endpoints that are equally far have this block on
        their chain: at least two of them, or the only one, or one if none of the others agrees
        with the step's endpoint.

        If so, the next `head()` prefers one of them.
        """
        ...

    def is_disputed(self, number: int, block_hash: str) -> bool:
        """Return whether another endpoint that is equally far has a different block with this
        number.

        If most of the endpoints have the same different block, the next `head()` prefers one of
        them.
        """
        ...

    def may_be_kept_elsewhere(self) -> bool:
        """Return whether another endpoint does not answer now but did in the last minutes: it may
        still have blocks that the step's endpoint does not have.
        """
        ...
