"""One RPC endpoint of a chain: its connection, its identity, its limits and its availability."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from adapters.chain.json_rpc import (
    RATE_LIMIT_WAIT_S,
    Endpoint,
    EndpointFailed,
    RpcError,
    call,
    sync_client,
)
from adapters.chain.limits import is_rate_limit
from adapters.chain.parsing import natural, parse_block
from adapters.chain.question_limits import QuestionLimits
from adapters.chain.reader import Block

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import RPCEndpoint, RPCResponse

T = TypeVar("T")
Transport = Callable[[str, list[Any]], Any]
"""Calls a method with parameters. Raises `EndpointFailed` and `RpcError`."""

REST_S = 30.0
"""How long an endpoint that failed is tried after the others, so that a first endpoint that hangs
costs one timeout per half minute instead of one per step."""
IDENTIFY_S = 300.0
"""How often an endpoint's chain is checked, because its URL may start to serve another chain."""


SILENCE_S = 300.0
"""How long after its last response an endpoint may still delay the removal of confirmed payments
that the other endpoints do not have.
"""
MAX_MISSING = 3
"""The number of missing blocks in a row after which an endpoint is tried after the others."""


class Stranger(EndpointFailed):
    """The endpoint serves another chain with the same chain id: its block 0 is different."""


class Node:
    """An endpoint with its connection and its recent failures. It is not thread-safe.

    `transport` replaces HTTP in tests. `before` runs before each HTTP call and may raise.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        chain_id: int,
        timeout_s: float,
        widest: int,
        transport: Transport | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self.endpoint = endpoint
        self.limits = QuestionLimits(widest, lambda: time.monotonic())
        self._chain_id = chain_id
        self._client = None if transport else sync_client(endpoint)
        self._timeout_s = timeout_s
        self._transport = transport or self._post
        self._before = before
        self._web3: Web3 | None = None
        self._resting_until = 0.0
        self._silent_until = 0.0
        self._identified_until = 0.0
        self._missing = self._missing_number = 0
        self.head_number = 0
        """The number of the newest block that the endpoint returned."""
        self._answered_at = time.monotonic()
        self.genesis: Block | None = None
        """The endpoint's block 0, or None if it is not known or the node has pruned it."""

    def close(self) -> None:
        """Close open connections."""
        if self._client is not None:
            self._client.close()

    @property
    def is_resting(self) -> bool:
        """Whether the endpoint failed recently, so that others are tried first."""
        return time.monotonic() < self._resting_until

    @property
    def is_silent(self) -> bool:
        """Whether the endpoint must not be called yet, because of a rate limit or `Retry-After`."""
        return time.monotonic() < self._silent_until

    @property
    def has_answered_lately(self) -> bool:
        """Whether the endpoint returned its head, or was configured, in the last minutes."""
        return time.monotonic() - self._answered_at < SILENCE_S

    def rest(self, error: EndpointFailed | RpcError) -> None:
        """Prefer the other endpoints for a while, and check this endpoint's chain before its next
        use. After a rate limit or `Retry-After`, it is not called until the pause is over.
        """
        now = time.monotonic()
        self._resting_until = now + REST_S
        self._identified_until = 0.0
        pause_s = _requested_pause_s(error)
        if pause_s is not None:
            self._silent_until = now + pause_s

    def wake(self) -> None:
        """Treat the endpoint as healthy again."""
        self._resting_until = 0.0

    def open(self, genesis: str | None) -> Block:
        """Check that the endpoint serves the expected chain, and return its head.

        `genesis` is the hash of the chain's block 0, if it is known. Raise `EndpointFailed`, and
        `Stranger` for another chain with the same id.
        """
        try:
            if time.monotonic() >= self._identified_until:
                self._identify()
            if genesis and self.genesis is not None and self.genesis.hash != genesis:
                raise Stranger("serves another chain with this id: its block 0 is another one")
            head = self.ask(lambda web3: parse_block(web3.eth.get_block("latest")))
            self.head_number, self._answered_at = head.number, time.monotonic()
            return head
        except RpcError as error:
            failure = EndpointFailed(str(error))
            failure.retry_after_s = _requested_pause_s(error)
            raise failure from None

    def ask(self, question: Callable[[Web3], T]) -> T:
        """Return the result of `question`. Raise `EndpointFailed` and `RpcError`.

        All exceptions are caught, because web3 raises many types (KeyError, TypeError, its own) if
        a node's JSON has the wrong structure, and such a response must not stop the watcher.
        """
        if self._web3 is None:
            self._web3 = _connect(self._transport)
        try:
            return question(self._web3)
        except (EndpointFailed, RpcError):
            raise
        except Exception as error:
            raise EndpointFailed(f"answered something unusable ({type(error).__name__})") from None

    def find_block(self, number: int) -> Block | None:
        """Return the canonical block with this number, or None if the node does not have it.

        Raise `EndpointFailed` and `RpcError`.
        """
        return self.ask(lambda web3: _find_block(web3, number))

    def note_block(self, number: int, *, is_missing: bool) -> None:
        """Record whether the endpoint had a block below its head. If several are missing in a row,
        the other endpoints are preferred for a while, because its head may not be on any chain.
        """
        if is_missing:
            self._missing, self._missing_number = self._missing + 1, number
        elif number >= self._missing_number:
            self._missing = 0
        if self._missing >= MAX_MISSING:
            self._missing = 0
            self._resting_until = time.monotonic() + REST_S

    def _identify(self) -> None:
        """Check the chain id and read block 0. Raise `EndpointFailed` and `RpcError`.

        A node that has pruned its history does not have block 0. It is identified by its chain id
        and the blocks that were read.
        """
        reported = self.ask(lambda web3: natural(web3.eth.chain_id))
        if reported != self._chain_id:
            raise EndpointFailed(f"reports chain id {reported}, not {self._chain_id}")
        try:
            genesis = self.find_block(0)
        except RpcError as error:
            if is_rate_limit(error.code, error.message):
                raise
            genesis = None
            _log.info("chain_endpoint_is_pruned", endpoint=str(self.endpoint), reason=str(error))
        self.genesis = genesis
        self._identified_until = time.monotonic() + IDENTIFY_S

    def _post(self, method: str, params: list[Any]) -> Any:
        assert self._client is not None
        self._before()
        return call(self._client, self.endpoint, method, params, timeout_s=self._timeout_s)


def _connect(transport: Transport) -> Web3:
    """Return a `Web3` that sends each call once, through `transport`. web3's HTTPProvider retries
    five times with back-off, so a timeout of 1 s becomes 6.9 s.
    """
    from web3 import Web3  # importing it takes 2 s
    from web3.middleware import ExtraDataToPOAMiddleware
    from web3.providers import BaseProvider

    class BoundedProvider(BaseProvider):
        def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
            return {"jsonrpc": "2.0", "id": 1, "result": transport(method, list(params))}

    web3 = Web3(BoundedProvider())
    # Proof-of-authority chains (Polygon, BSC and their test networks) put signatures into
    # extraData, which web3 otherwise rejects.
    web3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
    return web3


def _requested_pause_s(error: EndpointFailed | RpcError) -> float | None:
    is_limited = isinstance(error, RpcError) and is_rate_limit(error.code, error.message)
    if error.retry_after_s is None and is_limited:
        return RATE_LIMIT_WAIT_S
    return error.retry_after_s


def _find_block(web3: Web3, number: int) -> Block | None:
    from web3.exceptions import BlockNotFound

    try:
        block = parse_block(web3.eth.get_block(number))
    except BlockNotFound:
        return None
    if block.number != number:
        raise EndpointFailed("answered another block than was requested")
    return block


_log = structlog.get_logger(__name__)
