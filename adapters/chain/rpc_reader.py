"""The `ChainReader` over real RPC endpoints: chosen in order, checked, never waited for long."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import structlog

from adapters.chain.json_rpc import (
    AnswerTooLarge,
    Endpoint,
    EndpointFailed,
    RpcError,
    endpoints_for,
    sync_client,
)
from adapters.chain.limits import is_range_too_large
from adapters.chain.reader import (
    TRANSFER_TOPIC,
    Block,
    EndpointsBehind,
    EndpointsUnavailable,
    RangeTooLarge,
    Transfer,
)
from adapters.chain.web3_client import connect
from models.payment.methods import MAIN_NETS

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import BlockData, LogReceipt

T = TypeVar("T")

# How long an endpoint that failed is asked after the others, so that a hanging first choice costs
# one timeout in half a minute and not one in every step.
REST_S = 30.0


class RpcChainReader:
    """Reads chain `chain_id` from those of `urls` that serve it; one instance per thread.

    `timeout_s` bounds each question; nothing is retried here, the watcher's next step is the retry.
    `not_behind()` is the block number of the watcher's checkpoint: an endpoint whose head is lower
    is not used, for it would show payments as gone that it has not seen yet.
    """

    def __init__(
        self,
        urls: Sequence[str],
        chain_id: int,
        timeout_s: float,
        not_behind: Callable[[], int],
    ) -> None:
        self._chain_id = chain_id
        self._timeout_s = timeout_s
        self._not_behind = not_behind
        endpoints = () if chain_id in MAIN_NETS else endpoints_for(urls, chain_id)
        self._nodes = [_Node(endpoint, timeout_s) for endpoint in endpoints]
        self._chosen: _Node | None = None

    def close(self) -> None:
        """Close the kept connections."""
        for node in self._nodes:
            node.client.close()

    def head(self) -> Block:
        """Choose the step's endpoint: the first one that answers, as this chain, up to date."""
        self._chosen = None
        if not self._nodes:
            raise EndpointsUnavailable(f"no usable RPC endpoint for chain {self._chain_id}")
        least = self._not_behind()
        behind = 0
        reasons = []
        for node in sorted(self._nodes, key=lambda node: node.is_resting):
            try:
                head = self._open(node)
            except EndpointFailed as error:
                node.rest()
                reasons.append(f"{node.endpoint}: {error}")
                continue
            node.wake()
            if head.number < least:
                behind += 1
                reasons.append(f"{node.endpoint}: at block {head.number}, behind {least}")
                continue
            self._chosen = node
            for reason in reasons:
                _log.warning("chain_endpoint_passed_over", reason=reason, chain_id=self._chain_id)
            return head
        failure = EndpointsBehind if behind == len(self._nodes) else EndpointsUnavailable
        raise failure("; ".join(reasons))

    def block(self, number: int) -> Block | None:
        return self._ask(lambda web3: _find_block(web3, number))

    def transfers(
        self, token: str, receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        question: dict[str, Any] = {
            "address": token,
            "fromBlock": hex(first),
            "toBlock": hex(last),
            "topics": [TRANSFER_TOPIC],
        }
        if receivers is not None:
            if not receivers:
                return []
            padded = ["0x" + "0" * 24 + receiver[2:].lower() for receiver in receivers]
            question["topics"] = [TRANSFER_TOPIC, None, padded]
        wanted = None if receivers is None else {receiver.lower() for receiver in receivers}

        def read(web3: Web3) -> list[Transfer]:
            found: dict[tuple[str, int], Transfer] = {}
            for log in web3.eth.get_logs(question):  # type: ignore[arg-type]
                transfer = _parse_transfer(log)
                if transfer is None:
                    continue
                # What was not asked for is not believed.
                if not first <= transfer.block_number <= last:
                    raise EndpointFailed("answered logs of blocks that were not asked for")
                if transfer.token.lower() != token.lower():
                    raise EndpointFailed("answered logs of a contract that was not asked for")
                if wanted is None or transfer.receiver.lower() in wanted:
                    found[transfer.block_hash, transfer.log_index] = transfer
            return sorted(found.values(), key=lambda each: (each.block_number, each.log_index))

        return self._ask(read, ranged=True)

    def _open(self, node: _Node) -> Block:
        """The node's head, when it reports our chain id; `EndpointFailed` otherwise."""
        try:
            reported = node.ask(lambda web3: _natural(web3.eth.chain_id))
            if reported != self._chain_id:
                raise EndpointFailed(f"reports chain id {reported}, not {self._chain_id}")
            return node.ask(lambda web3: _parse_block(web3.eth.get_block("latest")))
        except RpcError as error:
            raise EndpointFailed(str(error)) from None

    def _ask(self, question: Callable[[Web3], T], *, ranged: bool = False) -> T:
        """Ask the step's endpoint; a failure ends the step, and the next `head` chooses again."""
        node = self._chosen
        if node is None:
            raise EndpointsUnavailable("ask for the head first: it chooses the endpoint")
        try:
            return node.ask(question)
        except RpcError as error:
            if ranged and is_range_too_large(error.code, error.message):
                raise RangeTooLarge(f"{node.endpoint}: {error}") from None
            reason = str(error)
        except AnswerTooLarge as error:
            if ranged:
                raise RangeTooLarge(f"{node.endpoint}: {error}") from None
            reason = str(error)
        except EndpointFailed as error:
            reason = str(error)
        node.rest()
        self._chosen = None
        raise EndpointsUnavailable(f"{node.endpoint}: {reason}")


class _Node:
    """One endpoint with its connection and its recent conduct."""

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self.endpoint = endpoint
        self.client: httpx.Client = sync_client(endpoint)
        self._timeout_s = timeout_s
        self._web3: Web3 | None = None
        self._resting_until = 0.0

    @property
    def is_resting(self) -> bool:
        return time.monotonic() < self._resting_until

    def rest(self) -> None:
        self._resting_until = time.monotonic() + REST_S

    def wake(self) -> None:
        self._resting_until = 0.0

    def ask(self, question: Callable[[Web3], T]) -> T:
        """The question's answer; `EndpointFailed` or `RpcError`.

        web3 raises nearly anything when a node answers JSON of the wrong shape (KeyError,
        TypeError, its own), and a node's nonsense must never end the watcher; hence the broad
        except.
        """
        if self._web3 is None:
            self._web3 = connect(self.endpoint, self.client, timeout_s=self._timeout_s)
        try:
            return question(self._web3)
        except (EndpointFailed, RpcError):
            raise
        except Exception as error:
            raise EndpointFailed(f"answered something unusable ({type(error).__name__})") from None


def _find_block(web3: Web3, number: int) -> Block | None:
    from web3.exceptions import BlockNotFound

    try:
        block = _parse_block(web3.eth.get_block(number))
    except BlockNotFound:
        return None
    if block.number != number:
        raise EndpointFailed("answered another block than was asked for")
    return block


def _parse_block(found: BlockData) -> Block:
    stamp = datetime.fromtimestamp(found["timestamp"], UTC)
    return Block(_natural(found["number"]), _hash(found["hash"]), stamp)


def _parse_transfer(log: LogReceipt) -> Transfer | None:
    """The ERC-20 transfer in a log; None for other shapes and for what a reorg took back."""
    topics = log["topics"]
    if log.get("removed") or len(topics) != 3 or len(log["data"]) != 32:
        return None
    if bytes(topics[0]).hex() != TRANSFER_TOPIC[2:]:
        return None
    from web3 import Web3

    return Transfer(
        token=str(log["address"]),
        sender=Web3.to_checksum_address(bytes(topics[1])[-20:]),
        receiver=Web3.to_checksum_address(bytes(topics[2])[-20:]),
        amount=int.from_bytes(log["data"]),
        tx_hash=_hash(log["transactionHash"]),
        log_index=_natural(log["logIndex"]),
        block_number=_natural(log["blockNumber"]),
        block_hash=_hash(log["blockHash"]),
    )


def _hash(value: bytes) -> str:
    """0x + 64 hex; HexBytes' own `hex()` has no 0x."""
    if len(value) != 32:
        raise EndpointFailed("answered a hash that is not 32 bytes")
    return "0x" + bytes(value).hex()


def _natural(value: int) -> int:
    """A number that fits the database's 64-bit columns."""
    if not 0 <= value < 2**63:
        raise EndpointFailed("answered a number out of range")
    return value


_log = structlog.get_logger(__name__)
