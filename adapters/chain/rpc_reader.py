"""The `ChainReader` over RPC endpoints, with timeouts, checks and failover."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from adapters.chain.json_rpc import AnswerTooLarge, EndpointFailed, RpcError, endpoints_for
from adapters.chain.limits import (
    find_named_width,
    is_above_head,
    is_pruned,
    is_range_too_large,
    is_rate_limit,
)
from adapters.chain.node import Node, Stranger, Transport
from adapters.chain.parsing import parse_transfers
from adapters.chain.question_limits import Exhausted, QuestionLimits
from adapters.chain.reader import (
    TRANSFER_TOPIC,
    Block,
    BlockMissing,
    BlockUnreadable,
    ChainReplaced,
    EndpointsBehind,
    EndpointsUnavailable,
    RangeTooLarge,
    Transfer,
)
from models.payment.methods import MAIN_NETS

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import RPCEndpoint


_RECEIPT: RPCEndpoint = "eth_getTransactionReceipt"  # type: ignore[assignment]
LEVEL = 8
"""Endpoints count as equally far if their heads are at most this many blocks apart."""


class RpcChainReader:
    """Reads a chain from the endpoints of `urls` that serve it. Use one instance per thread.

    `timeout_s` limits each request. Requests are not retried, because the watcher's next step is
    the retry. `not_behind()` returns the block number of the watcher's checkpoint. An endpoint
    whose head is lower is not used, because payments that it does not have yet would appear to be
    removed. `genesis()` returns the hash of block 0 that the watcher has stored. An endpoint with a
    different block 0 is not used. `before` runs before each call and may raise the same errors.
    """

    def __init__(
        self,
        urls: Sequence[str],
        chain_id: int,
        timeout_s: float,
        not_behind: Callable[[], int],
        *,
        genesis: Callable[[], str | None] = lambda: None,
        widest: int = 1000,
        transports: Mapping[str, Transport] | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._chain_id = chain_id
        self._not_behind = not_behind
        self._genesis = genesis
        endpoints = () if chain_id in MAIN_NETS else endpoints_for(urls, chain_id)
        self._nodes = [
            Node(
                endpoint,
                chain_id=chain_id,
                timeout_s=timeout_s,
                widest=widest,
                transport=transports[endpoint.url] if transports else None,
                before=before,
            )
            for endpoint in endpoints
        ]
        self._chosen: Node | None = None
        self._first: Node | None = None
        """The step's endpoint, which `others` skips even after it has failed."""
        self._preferred: Node | None = None
        self._head_number = 0
        self._passed_over: dict[Node, str] = {}
        """The endpoints that were skipped, with the reason: they fail or are behind. Only changes
        are logged, not each step.
        """

    def close(self) -> None:
        """Close open connections."""
        for node in self._nodes:
            node.close()

    @property
    def limits(self) -> QuestionLimits:
        return self._current.limits

    @property
    def narrowest(self) -> int:
        return min(node.limits.width for node in self._nodes)

    def head(self) -> Block:
        """Choose the step's endpoint: the first one that answers, serves the chain, and is not
        behind the checkpoint.
        """
        self._chosen = None
        if not self._nodes:
            raise EndpointsUnavailable(f"no usable RPC endpoint for chain {self._chain_id}")
        least, genesis = self._not_behind(), self._genesis()
        behind = strangers = 0
        reasons: list[str] = []
        passed_over: dict[Node, tuple[str, str]] = {}
        for node in self._in_order():
            if node.is_silent:
                reasons.append(f"{node.endpoint}: asked for patience")
                passed_over[node] = "fails", reasons[-1]
                continue
            try:
                head = node.open(genesis)
            except EndpointFailed as error:
                node.rest(error)
                strangers += isinstance(error, Stranger)
                reasons.append(f"{node.endpoint}: {error}")
                passed_over[node] = "fails", reasons[-1]
                continue
            node.wake()
            if head.number < least:
                behind += 1
                reasons.append(f"{node.endpoint}: at block {head.number}, behind {least}")
                passed_over[node] = "is behind", reasons[-1]
                continue
            self._chosen = self._first = node
            self._head_number = head.number
            self._passed_over.pop(node, None)
            self._note_passed_over(passed_over)
            return head
        if strangers == len(self._nodes):
            raise ChainReplaced("; ".join(reasons))
        failure = EndpointsBehind if behind == len(self._nodes) else EndpointsUnavailable
        raise failure("; ".join(reasons))

    def _note_passed_over(self, nodes: Mapping[Node, tuple[str, str]]) -> None:
        for node, (kind, reason) in nodes.items():
            if self._passed_over.get(node) != kind:
                self._passed_over[node] = kind
                _log.warning("chain_endpoint_passed_over", reason=reason, chain_id=self._chain_id)

    def others(self, at_least: int | None = None) -> Generator[Block]:
        first, genesis = self._first, self._genesis()
        least = self._not_behind() if at_least is None else at_least
        try:
            for node in self._nodes:
                if node is first or node.is_silent:
                    continue
                try:
                    head = node.open(genesis)
                except EndpointFailed as error:
                    node.rest(error)
                    continue
                if head.number >= least:
                    self._chosen = node
                    yield head
        finally:
            self._chosen = first

    def block(self, number: int) -> Block | None:
        node = self._current
        try:
            found = node.find_block(number)
        except (RpcError, EndpointFailed) as error:
            raise self._end_step(node, error) from None
        is_missing = found is None and 0 < number <= node.head_number
        node.note_block(number, is_missing=is_missing)
        if is_missing:
            raise BlockMissing(f"{node.endpoint}: no block {number} below {node.head_number}")
        return found

    def genesis(self) -> Block | None:
        return self._current.genesis

    def transfers(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        if not tokens or (receivers is not None and not receivers):
            return []
        node, width = self._current, last - first + 1
        query = _filter(tokens, receivers) | {"fromBlock": hex(first), "toBlock": hex(last)}
        try:
            transfers = node.ask(
                lambda web3: list(parse_transfers(_get_logs(web3, query), tokens, first, last))
            )
        except (RpcError, EndpointFailed) as error:
            self._note_refusal(node, error, width, all_receivers=receivers is None)
            raise self._end_step(node, error) from None
        node.limits.accept(width)
        return _sorted(transfers, receivers)

    def transfers_in(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        if not tokens or (receivers is not None and not receivers):
            return []
        node = self._current
        query = _filter(tokens, receivers) | {"blockHash": block.hash}

        def read(web3: Web3) -> list[Transfer]:
            logs = _get_logs(web3, query)
            number = block.number
            return list(parse_transfers(logs, tokens, number, number, block_hash=block.hash))

        try:
            transfers = node.ask(read)
        except (RpcError, EndpointFailed) as error:
            # Only a rate limit ends the step. After other errors, the block is read by its number.
            if isinstance(error, RpcError) and not is_rate_limit(error.code, error.message):
                if is_range_too_large(error.code, error.message):
                    self._note_refusal(node, error, 1, all_receivers=receivers is None)
                node.limits.note_hash(answered=False)
                raise BlockUnreadable(f"{node.endpoint}: {error}") from None
            if isinstance(error, AnswerTooLarge):
                self._note_refusal(node, error, 1, all_receivers=receivers is None)
            raise self._end_step(node, error) from None
        node.limits.note_hash(answered=True)
        return _sorted(transfers, receivers)

    def transfers_of(
        self, tx_hash: str, tokens: Sequence[str], block: Block
    ) -> list[Transfer] | None:
        node, number = self._current, block.number
        addresses = {token.lower() for token in tokens}

        def read(web3: Web3) -> list[Transfer] | None:
            receipt: Any = web3.provider.make_request(_RECEIPT, [tx_hash])["result"]
            if receipt is None or receipt["blockHash"].lower() != block.hash:
                return None
            logs = [each for each in receipt["logs"] if each["address"].lower() in addresses]
            return list(parse_transfers(logs, tokens, number, number, block_hash=block.hash))

        try:
            return node.ask(read)
        except (RpcError, EndpointFailed) as error:
            raise self._end_step(node, error) from None

    def is_kept_elsewhere(self, number: int, block_hash: str) -> bool:
        blocks = self._find_elsewhere(number)
        keeping = [node for node, found in blocks.items() if found == block_hash]
        if len(keeping) > 1 or (keeping and len(blocks) == 1):
            self._prefer(keeping[0])
            return True
        if not keeping:
            return False
        own = self.block(number) if number <= self._current.head_number else None
        rivals = [found for found in blocks.values() if own is not None and found == own.hash]
        if rivals:
            return False
        self._prefer(keeping[0])
        return True

    def is_disputed(self, number: int, block_hash: str) -> bool:
        blocks = self._find_elsewhere(number)
        others = Counter(found for found in blocks.values() if found != block_hash)
        for found, times in others.most_common(1):
            if 2 * times > len(blocks) + 1:
                self._prefer(next(each for each in blocks if blocks[each] == found))
        return bool(others)

    def _prefer(self, node: Node) -> None:
        """Prefer this endpoint in the next step. It has just answered, so it counts as healthy."""
        node.wake()
        self._preferred = node

    def _find_elsewhere(self, number: int) -> dict[Node, str]:
        """Return the hash of block `number` on each other endpoint that is equally far."""
        genesis = self._genesis()
        found: dict[Node, str] = {}
        for node in self._nodes:
            if node is self._chosen or node.is_silent:
                continue
            try:
                head = node.open(genesis)
                if head.number < max(number, self._head_number - LEVEL):
                    continue
                block = head if head.number == number else node.find_block(number)
            except (EndpointFailed, RpcError) as error:
                node.rest(error)
                continue
            if block is not None:
                found[node] = block.hash
        return found

    def may_be_kept_elsewhere(self) -> bool:
        for node in self._nodes:
            if node is self._chosen or not node.has_answered_lately:
                continue
            if node.is_silent:
                return True
            try:
                node.open(self._genesis())
            except EndpointFailed as error:
                node.rest(error)
                return True
        return False

    @property
    def _current(self) -> Node:
        if self._chosen is None:
            raise EndpointsUnavailable("ask for the head first: it chooses the endpoint")
        return self._chosen

    def _in_order(self) -> list[Node]:
        """Return the endpoints in the order in which to try them: healthy ones first, then the
        preferred one, then by position.
        """
        return sorted(self._nodes, key=lambda node: (node.is_resting, node is not self._preferred))

    def _note_refusal(
        self, node: Node, error: EndpointFailed | RpcError, width: int, *, all_receivers: bool
    ) -> None:
        """Make the next request smaller if that may help, and raise `RangeTooLarge`. Do not raise
        it if the error does not mention the range and another endpoint is healthy.

        The endpoint has just returned its head. So any failure of a request for several blocks (a
        timeout, a 5xx, an unknown text) is a reason to request fewer.
        """
        worded, named = isinstance(error, AnswerTooLarge), None
        if isinstance(error, RpcError):
            code, message = error.code, error.message
            if is_rate_limit(code, message) or is_above_head(message) or is_pruned(code, message):
                return
            worded = is_range_too_large(error.code, error.message)
            named = find_named_width(error.message, below=width) if worded else None
        elif error.retry_after_s is not None:
            return
        if width == 1 and not worded:
            return
        try:
            node.limits.refuse(width, all_receivers=all_receivers, worded=worded, named=named)
        except Exhausted:
            return
        others = [each for each in self._nodes if each is not node and not each.is_resting]
        if not worded and others:
            return
        raise RangeTooLarge(f"{node.endpoint}: {error}")

    def _end_step(self, node: Node, error: EndpointFailed | RpcError) -> EndpointsUnavailable:
        """Mark the endpoint as failed, so that the next `head` chooses again. Return the error."""
        node.rest(error)
        self._chosen = None
        return EndpointsUnavailable(f"{node.endpoint}: {error}")


def _filter(tokens: Sequence[str], receivers: Sequence[str] | None) -> dict[str, Any]:
    topics: list[Any] = [TRANSFER_TOPIC]
    if receivers is not None:
        topics += [None, ["0x" + "0" * 24 + each[2:].lower() for each in receivers]]
    return {"address": tokens[0] if len(tokens) == 1 else list(tokens), "topics": topics}


def _get_logs(web3: Web3, query: dict[str, Any]) -> Any:
    # web3.eth.get_logs is too slow: it formats a log in 400 us, and a busy token has thousands.
    return web3.provider.make_request("eth_getLogs", [query])["result"]  # type: ignore[arg-type]


def _sorted(transfers: list[Transfer], receivers: Sequence[str] | None) -> list[Transfer]:
    """Return the transfers to the receivers in chain order. A node may also return others."""
    if receivers is not None:
        wanted = {receiver.lower() for receiver in receivers}
        transfers = [transfer for transfer in transfers if transfer.receiver.lower() in wanted]
    return sorted(transfers, key=lambda each: (each.block_number, each.log_index))


_log = structlog.get_logger(__name__)
