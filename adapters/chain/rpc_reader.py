"""The `ChainReader` over real RPC endpoints: chosen in order, checked, never waited for long."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
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
from models.payment.addresses import checksummed
from models.payment.methods import MAIN_NETS

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import BlockData

T = TypeVar("T")

_WORD = re.compile("0x[0-9a-fA-F]{64}")

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

        def read(web3: Web3) -> list[Transfer]:
            # Not web3.eth.get_logs: its formatters take 400 us a log, a busy token has thousands.
            logs = web3.provider.make_request("eth_getLogs", [question])["result"]  # type: ignore[arg-type]
            return list(_parse_transfers(logs, token, first, last))

        found = self._ask(read, ranged=True)
        if receivers is not None:
            wanted = {receiver.lower() for receiver in receivers}
            found = [transfer for transfer in found if transfer.receiver.lower() in wanted]
        return sorted(found, key=lambda each: (each.block_number, each.log_index))

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


def _parse_transfers(logs: Any, token: str, first: int, last: int) -> Iterator[Transfer]:
    """The ERC-20 transfers of an eth_getLogs result, each once; other logs are passed over.

    What was not asked for is not believed: `EndpointFailed`, as for anything malformed.
    """
    if not isinstance(logs, list):
        raise EndpointFailed("answered something that is not a list of logs")
    address = token.lower()
    spelled = cache(checksummed)
    seen = set()
    for log in logs:
        topics, data = log["topics"], log["data"]
        # NFTs index the amount too; a log that a reorg took back is not there any more.
        if log.get("removed") or len(topics) != 3 or topics[0].lower() != TRANSFER_TOPIC:
            continue
        if len(data) != 66:
            continue
        number, index = _natural(int(log["blockNumber"], 16)), _natural(int(log["logIndex"], 16))
        if log["address"].lower() != address or not first <= number <= last:
            raise EndpointFailed("answered logs that were not asked for")
        block_hash = _word(log["blockHash"])
        if (block_hash, index) in seen:
            continue
        seen.add((block_hash, index))
        yield Transfer(
            token=spelled(address),
            sender=spelled("0x" + _word(topics[1])[26:]),
            receiver=spelled("0x" + _word(topics[2])[26:]),
            amount=int(_word(data), 16),
            tx_hash=_word(log["transactionHash"]),
            log_index=index,
            block_number=number,
            block_hash=block_hash,
        )


def _word(value: str) -> str:
    """0x + 64 lower-case hex."""
    if _WORD.fullmatch(value) is None:
        raise EndpointFailed("answered a hash or topic that is not 32 bytes of hex")
    return value.lower()


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
