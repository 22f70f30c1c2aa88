"""What the watcher reads from a chain: the protocol, its records and its failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

# keccak256("Transfer(address,address,uint256)"), the first topic of every ERC-20 transfer log.
TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


@dataclass(frozen=True, slots=True)
class Block:
    """One block's place in the chain: `hash` is 0x + 64 lower-case hex, `timestamp` aware UTC."""

    number: int
    hash: str
    timestamp: datetime


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
    """The endpoint refuses this many blocks or logs at once: ask again for fewer blocks."""


class EndpointsUnavailable(Exception):
    """No configured endpoint gives a usable answer now; the text names endpoints by host only."""


class EndpointsBehind(EndpointsUnavailable):
    """All endpoints answer, all are behind the checkpoint: a node syncs, or the chain is new."""


class ChainReader(Protocol):
    """A chain seen by one watcher step. Calls block; each may raise `EndpointsUnavailable`.

    `head()` opens a step: it chooses the endpoint, and `block()` and `transfers()` ask that same
    endpoint until the next `head()`, so that one step never mixes two nodes' views of the chain.
    """

    def head(self) -> Block:
        """The newest block of the first usable endpoint."""
        ...

    def block(self, number: int) -> Block | None:
        """The canonical block with this number, or None when the chain is shorter."""
        ...

    def transfers(
        self, token: str, receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        """Transfer logs of `token` in blocks `first`..`last` inclusive, in chain order.

        `receivers` None means all of them. `last` must not be above the head. Zero-value transfers
        are included. Raises `RangeTooLarge` when the endpoint wants a smaller question.
        """
        ...
