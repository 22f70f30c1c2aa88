"""Chain access for API requests: the health check before a checkout, and the newest block."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Any, Protocol

import structlog

from adapters.chain.json_rpc import (
    Endpoint,
    EndpointFailed,
    RpcError,
    async_client,
    call,
    call_async,
    endpoints_for,
    parse_quantity,
    sync_client,
)
from models.payment.invoices import NewestBlock
from models.payment.methods import MAIN_NETS

_NEWEST_BLOCK_TIMEOUT_S = 1.0
"""How long a request waits for each call to an endpoint when it reads the newest block."""
_REMEMBER_S = 1.0
"""How long the newest block of a chain is cached."""
_SILENCE_S = 10.0
"""How long a chain's newest block is not requested after all its endpoints failed."""
_HASH = re.compile("0x[0-9a-fA-F]{64}")
_ANSWER_LIMIT = 64 * 1024
"""The maximum size of a response with a chain id, which is usually 40 bytes."""


class NoEndpoint(Exception):
    """No endpoint is configured for the chain."""


class ChainUnreachable(Exception):
    """No endpoint answered, or an endpoint reported another chain id."""


class ChainGateway(Protocol):
    """Access to the chains that the service may use."""

    def is_configured(self, chain_id: int) -> bool:
        """Return whether an endpoint for this chain is configured. It does no input or output."""
        ...

    async def check(self, chain_id: int) -> None:
        """Raise `NoEndpoint` or `ChainUnreachable` unless the chain is healthy now."""
        ...

    def find_newest_block(self, chain_id: int) -> NewestBlock | None:
        """Return the newest block of the first endpoint that answers, or None if none answers.

        It may block for several seconds: call it in a thread, not on an event loop.
        """
        ...


class RpcChainGateway:
    """`ChainGateway` over JSON-RPC with httpx. These requests do not need web3, whose import would
    cost each API worker 54 MiB and delay its first request by 2.3 s.
    """

    def __init__(self, urls: Sequence[str], *, timeout_s: float) -> None:
        self._urls = tuple(urls)
        self._timeout_s = timeout_s
        self._silent_until: dict[int, float] = {}
        self._newest: dict[int, tuple[float, NewestBlock]] = {}

    def is_configured(self, chain_id: int) -> bool:
        return chain_id not in MAIN_NETS and bool(endpoints_for(self._urls, chain_id))

    async def check(self, chain_id: int) -> None:
        """Query all endpoints concurrently, so that slow ones cost the timeout only once."""
        endpoints = endpoints_for(self._urls, chain_id)
        if chain_id in MAIN_NETS or not endpoints:
            raise NoEndpoint(chain_id)
        answers = await asyncio.gather(*(self._chain_id(endpoint) for endpoint in endpoints))
        reported = [answer for answer in answers if answer is not None]
        if set(reported) != {chain_id}:
            _log.warning("chain_unavailable", chain_id=chain_id, reported=reported)
            raise ChainUnreachable(chain_id)

    def find_newest_block(self, chain_id: int) -> NewestBlock | None:
        if not self.is_configured(chain_id) or time.monotonic() < self._silent_until.get(
            chain_id, 0
        ):
            return None
        asked_at, newest = self._newest.get(chain_id, (0.0, None))
        if newest is not None and time.monotonic() - asked_at < _REMEMBER_S:
            return newest
        asked_at, timeout_s = time.monotonic(), min(self._timeout_s, _NEWEST_BLOCK_TIMEOUT_S)
        latest = ["latest", False]
        for endpoint in endpoints_for(self._urls, chain_id):
            try:
                with sync_client(endpoint) as client:
                    reported = call(client, endpoint, "eth_chainId", [], timeout_s=timeout_s)
                    if parse_quantity(reported) != chain_id:
                        raise EndpointFailed("reports another chain")
                    newest = _newest_block(
                        call(client, endpoint, "eth_getBlockByNumber", latest, timeout_s=timeout_s)
                    )
                self._newest[chain_id] = (asked_at, newest)
                return newest
            except (EndpointFailed, RpcError) as error:
                _log.warning("chain_endpoint_failed", endpoint=str(endpoint), reason=str(error))
        self._silent_until[chain_id] = time.monotonic() + _SILENCE_S
        return None

    async def _chain_id(self, endpoint: Endpoint) -> int | None:
        """Return the chain id that the endpoint reports, or None if it does not answer."""
        timeout_s = self._timeout_s
        try:
            async with asyncio.timeout(timeout_s), async_client(endpoint) as client:
                reported = await call_async(
                    client, endpoint, "eth_chainId", [], timeout_s=timeout_s, limit=_ANSWER_LIMIT
                )
                return parse_quantity(reported)
        except TimeoutError:
            reason = f"no whole answer within {timeout_s:g} s"
        except (EndpointFailed, RpcError) as error:
            reason = str(error)
        _log.warning("chain_endpoint_failed", endpoint=str(endpoint), reason=reason)
        return None


def _newest_block(answer: Any) -> NewestBlock:
    number = parse_quantity(answer.get("number") if isinstance(answer, dict) else None)
    block_hash = answer.get("hash")
    if not isinstance(block_hash, str) or not _HASH.fullmatch(block_hash) or number >= 2**63:
        raise EndpointFailed("answered something that is not a block")
    return NewestBlock(number, block_hash.lower())


_log = structlog.get_logger(__name__)
