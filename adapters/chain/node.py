"""One RPC endpoint of a chain: its connection, its identity, what it takes, and when to ask it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from adapters.chain.json_rpc import Endpoint, EndpointFailed, RpcError, ask, sync_client
from adapters.chain.limits import is_rate_limit
from adapters.chain.parsing import natural, parse_block
from adapters.chain.question_limits import QuestionLimits
from adapters.chain.reader import Block
from adapters.chain.web3_client import connect

if TYPE_CHECKING:
    from web3 import Web3

T = TypeVar("T")
Transport = Callable[[str, list[Any]], Any]
"""Asks one method with its parameters; raises `EndpointFailed` and `RpcError`."""

# How long an endpoint that failed is asked after the others, so that a hanging first choice costs
# one timeout in half a minute and not one in every step.
REST_S = 30.0
# How often an endpoint is asked which chain it serves: an address may be given to another chain.
IDENTIFY_S = 300.0
_PATIENCE_S = 10.0


class Stranger(EndpointFailed):
    """The endpoint serves another chain under the same chain id: its block 0 is another one."""


class Node:
    """One endpoint with its connection and its recent conduct. Not thread-safe.

    `transport` stands in for HTTP in tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        chain_id: int,
        timeout_s: float,
        widest: int,
        transport: Transport | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.limits = QuestionLimits(widest, lambda: time.monotonic())
        self._chain_id = chain_id
        self._client = None if transport else sync_client(endpoint)
        self._timeout_s = timeout_s
        self._transport = transport or self._post
        self._web3: Web3 | None = None
        self._resting_until = 0.0
        self._silent_until = 0.0
        self._identified_until = 0.0
        self.genesis: Block | None = None
        """Block 0 as the endpoint shows it; None where it has pruned it."""

    def close(self) -> None:
        """Close the kept connections."""
        if self._client is not None:
            self._client.close()

    @property
    def is_resting(self) -> bool:
        """Whether the endpoint failed lately: others are asked first."""
        return time.monotonic() < self._resting_until

    @property
    def is_silent(self) -> bool:
        """Whether the endpoint asked for patience that is not over: it is not asked at all."""
        return time.monotonic() < self._silent_until

    def rest(self, error: Exception | None = None) -> None:
        """Ask the others first for a while, and find out anew which chain this endpoint serves.

        An endpoint that asked for patience is left alone for as long as it asked.
        """
        now = time.monotonic()
        self._resting_until = now + REST_S
        self._identified_until = 0.0
        wanted = getattr(error, "retry_after_s", None)
        if wanted is None and isinstance(error, RpcError):
            wanted = _PATIENCE_S if is_rate_limit(error.code, error.message) else None
        if wanted is not None:
            self._silent_until = now + wanted

    def wake(self) -> None:
        """Take the endpoint for healthy again."""
        self._resting_until = 0.0

    def open(self, genesis: str | None) -> Block:
        """Return the head, once the endpoint is known to serve our chain.

        `genesis` is the hash of the chain's block 0 as remembered, if it is. Raises
        `EndpointFailed`, and `Stranger` for another chain with the same id.
        """
        try:
            if time.monotonic() >= self._identified_until:
                self._identify()
            if genesis and self.genesis is not None and self.genesis.hash != genesis:
                raise Stranger("serves another chain with this id: its block 0 is another one")
            return self.ask(lambda web3: parse_block(web3.eth.get_block("latest")))
        except RpcError as error:
            failure = EndpointFailed(str(error))
            failure.retry_after_s = error.retry_after_s
            if is_rate_limit(error.code, error.message) and error.retry_after_s is None:
                failure.retry_after_s = _PATIENCE_S
            raise failure from None

    def ask(self, question: Callable[[Web3], T]) -> T:
        """Return the question's answer. Raises `EndpointFailed` and `RpcError`.

        web3 raises nearly anything when a node answers JSON of the wrong shape (KeyError,
        TypeError, its own), and a node's nonsense must never end the watcher; hence the broad
        except.
        """
        if self._web3 is None:
            self._web3 = connect(self._transport)
        try:
            return question(self._web3)
        except (EndpointFailed, RpcError):
            raise
        except Exception as error:
            raise EndpointFailed(f"answered something unusable ({type(error).__name__})") from None

    def find_block(self, number: int) -> Block | None:
        """Return the canonical block of a number, None above the head.

        Raises `EndpointFailed` and `RpcError`.
        """
        return self.ask(lambda web3: _find_block(web3, number))

    def _identify(self) -> None:
        """Ask for the chain id and for block 0. Raises `EndpointFailed` and `RpcError`.

        A node that has pruned its history has no block 0 to show: it is known by its chain id and
        by the blocks that were read.
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
        return ask(self._client, self.endpoint, method, params, timeout_s=self._timeout_s)


def _find_block(web3: Web3, number: int) -> Block | None:
    from web3.exceptions import BlockNotFound

    try:
        block = parse_block(web3.eth.get_block(number))
    except BlockNotFound:
        return None
    if block.number != number:
        raise EndpointFailed("answered another block than was asked for")
    return block


_log = structlog.get_logger(__name__)
