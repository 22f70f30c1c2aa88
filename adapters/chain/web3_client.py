"""web3 over our bounded JSON-RPC transport; its import (2 s) waits for the first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx

from adapters.chain.json_rpc import Endpoint, ask

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import RPCEndpoint, RPCResponse


def connect(endpoint: Endpoint, client: httpx.Client, *, timeout_s: float) -> Web3:
    """A `Web3` whose calls end within `timeout_s` (see `json_rpc.ask`) and are never retried.

    web3's HTTPProvider retries five times with back-off: a 1 s timeout became 6.9 s. Calls raise
    `EndpointFailed` and `RpcError`, and whatever web3 raises on answers of the wrong shape.
    """
    from web3 import Web3
    from web3.middleware import ExtraDataToPOAMiddleware
    from web3.providers import BaseProvider

    class BoundedProvider(BaseProvider):
        def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
            result = ask(client, endpoint, method, list(params), timeout_s=timeout_s)
            return {"jsonrpc": "2.0", "id": 1, "result": result}

    web3 = Web3(BoundedProvider())
    # Chains sealed by authorities (Polygon, BSC and their test nets) put signatures into extraData,
    # which web3 otherwise refuses.
    web3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
    return web3
