"""What a request asks of a chain before it promises a checkout: is it there, is it the one?"""

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
    ask,
    ask_async,
    async_client,
    endpoints_for,
    parse_quantity,
    sync_client,
)
from models.payment.invoices import NewestBlock
from models.payment.methods import MAIN_NETS

# How long a request waits for each endpoint that is to show its newest block, and how long after
# such a wait in vain no other one does.
_PATIENCE_S = 1.0
_SILENCE_S = 10.0
_HASH = re.compile("0x[0-9a-fA-F]{64}")
# A chain id answers in 40 bytes; whatever is longer than this is something else.
_ANSWER_LIMIT = 64 * 1024


class NoEndpoint(Exception):
    """No endpoint is configured for the chain."""


class ChainUnreachable(Exception):
    """No endpoint answered, or one answered for another chain."""


class ChainGateway(Protocol):
    """The chains this service may use, as handlers see them."""

    def is_configured(self, chain_id: int) -> bool:
        """Whether an endpoint serves this chain. No input or output."""
        ...

    async def check(self, chain_id: int) -> None:
        """Return when the chain is healthy now.

        Raises `NoEndpoint` and `ChainUnreachable`.
        """
        ...

    def find_newest_block(self, chain_id: int) -> NewestBlock | None:
        """Return the newest block that an endpoint of the chain shows, None when none answers.

        Takes at most a second or two, and may block: for a thread, not for an event loop.
        """
        ...


class RpcChainGateway:
    """`ChainGateway` over JSON-RPC.

    It asks through httpx, which connexion has loaded anyway: importing web3 would cost each API
    worker 2.3 s of its first request and 54 MiB, for one question that needs no encoding.
    """

    def __init__(self, urls: Sequence[str], *, timeout_s: float) -> None:
        self._urls = tuple(urls)
        self._timeout_s = timeout_s
        self._silent_until: dict[int, float] = {}

    def is_configured(self, chain_id: int) -> bool:
        return chain_id not in MAIN_NETS and bool(endpoints_for(self._urls, chain_id))

    async def check(self, chain_id: int) -> None:
        """Ask every endpoint at once; one slow endpoint costs at most the timeout, not a sum."""
        endpoints = endpoints_for(self._urls, chain_id)
        if chain_id in MAIN_NETS or not endpoints:
            raise NoEndpoint(chain_id)
        answers = await asyncio.gather(*(self._chain_id(endpoint) for endpoint in endpoints))
        reported = [answer for answer in answers if answer is not None]
        strangers = [answer for answer in reported if answer != chain_id]
        if not reported or strangers:
            _log.warning("chain_unavailable", chain_id=chain_id, reported=reported)
            raise ChainUnreachable(chain_id)

    def find_newest_block(self, chain_id: int) -> NewestBlock | None:
        if not self.is_configured(chain_id) or time.monotonic() < self._silent_until.get(
            chain_id, 0
        ):
            return None
        timeout_s = min(self._timeout_s, _PATIENCE_S)
        for endpoint in endpoints_for(self._urls, chain_id):
            try:
                with sync_client(endpoint) as client:
                    answers = [
                        ask(client, endpoint, method, params, timeout_s=timeout_s)
                        for method, params in (
                            ("eth_chainId", []),
                            ("eth_getBlockByNumber", ["latest", False]),
                        )
                    ]
                if parse_quantity(answers[0]) != chain_id:
                    raise EndpointFailed("reports another chain")
                return _newest_block(answers[1])
            except (EndpointFailed, RpcError) as error:
                _log.warning("chain_endpoint_failed", endpoint=str(endpoint), reason=str(error))
        # Nobody who creates an invoice waits for the same silence again.
        self._silent_until[chain_id] = time.monotonic() + _SILENCE_S
        return None

    async def _chain_id(self, endpoint: Endpoint) -> int | None:
        """What the endpoint reports, or None when it does not answer."""
        try:
            async with asyncio.timeout(self._timeout_s), async_client(endpoint) as client:
                return parse_quantity(
                    await ask_async(
                        client,
                        endpoint,
                        "eth_chainId",
                        [],
                        timeout_s=self._timeout_s,
                        limit=_ANSWER_LIMIT,
                    )
                )
        except TimeoutError:
            reason = f"no whole answer within {self._timeout_s:g} s"
        except (EndpointFailed, RpcError) as error:
            reason = str(error)
        _log.warning("chain_endpoint_failed", endpoint=str(endpoint), reason=reason)
        return None


def _newest_block(found: Any) -> NewestBlock:
    number = parse_quantity(found.get("number") if isinstance(found, dict) else None)
    block_hash = found.get("hash")
    if not isinstance(block_hash, str) or not _HASH.fullmatch(block_hash) or number >= 2**63:
        raise EndpointFailed("answered something that is not a block")
    return NewestBlock(number, block_hash.lower())


_log = structlog.get_logger(__name__)
