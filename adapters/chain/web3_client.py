"""web3 over our bounded JSON-RPC transport; its import (2 s) waits for the first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from web3 import Web3
    from web3.types import RPCEndpoint, RPCResponse


def connect(transport: Callable[[str, list[Any]], Any]) -> Web3:
    """Return a `Web3` that asks through `transport` (see `json_rpc.ask`) and never asks twice.

    web3's HTTPProvider retries five times with back-off: a 1 s timeout became 6.9 s. Calls raise
    `EndpointFailed` and `RpcError`, and whatever web3 raises on answers of the wrong shape.
    """
    from web3 import Web3
    from web3.middleware import ExtraDataToPOAMiddleware
    from web3.providers import BaseProvider

    class BoundedProvider(BaseProvider):
        def make_request(self, method: RPCEndpoint, params: Any) -> RPCResponse:
            return {"jsonrpc": "2.0", "id": 1, "result": transport(method, list(params))}

    web3 = Web3(BoundedProvider())
    # Chains sealed by authorities (Polygon, BSC and their test nets) put signatures into extraData,
    # which web3 otherwise refuses.
    web3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)
    return web3
