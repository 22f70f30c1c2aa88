"""Controls development chains, whose nodes have unlocked accounts and mine on request.

No private keys are used: all payments come from the accounts of `eth_accounts`. Every method has a
time limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import httpx

from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from adapters.chain.json_rpc import (
    Endpoint,
    EndpointFailed,
    RpcError,
    async_client,
    call_async,
    endpoints_for,
    parse_quantity,
)
from models.payment.methods import MAIN_NETS

WITHIN_S = 10.0
"""The time limit of one operation, including all its calls."""
_ANSWER_LIMIT = 1024 * 1024
_LOOK_S = 0.02
_GAS = hex(200_000)
_TRANSFER, _BALANCE_OF = "0xa9059cbb", "0x70a08231"
"""The selectors of ERC-20's `transfer(address,uint256)` and `balanceOf(address)`."""

T = TypeVar("T")


class NodeRefuses(Exception):
    """The node rejected the operation. The message continues a sentence that begins "Chain N"."""


@dataclass(frozen=True, slots=True)
class Head:
    """The newest block of a chain; `time_s` is its timestamp in Unix seconds."""

    number: int
    time_s: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A submitted transfer. `block_number` is None if it is not in a block yet."""

    tx_hash: str
    sender: str
    amount: int
    block_number: int | None


class DevelopmentChains(Protocol):
    """Operations on development chains. All raise `NoEndpoint`, `ChainUnreachable` and
    `NodeRefuses`.
    """

    async def head(self, chain_id: int) -> Head:
        """Return the newest block."""
        ...

    async def balance(self, chain_id: int, token: str, address: str) -> int:
        """Return the token balance of the address, in atoms."""
        ...

    async def pay(
        self,
        chain_id: int,
        token: str,
        to: str,
        amounts: Sequence[int],
        *,
        payer: int = 0,
        after_s: int | None = None,
    ) -> list[Sent]:
        """Transfer each of the amounts from the node's account number `payer`. The timestamp of the
        first transfer's block is after `after_s`.
        """
        ...

    async def mine(self, chain_id: int, count: int, *, after_s: int | None = None) -> Head:
        """Add `count` blocks. The timestamp of the first one is after `after_s`."""
        ...

    async def reorganise(self, chain_id: int, depth: int) -> Head:
        """Replace the newest `depth` blocks with empty ones."""
        ...

    async def advance(self, chain_id: int, seconds: int) -> Head:
        """Advance the chain's clock and add a block with the new time."""
        ...


class RpcDevelopmentChains:
    """`DevelopmentChains` over JSON-RPC, using the first endpoint of each chain.

    `timeout_s`: how long to wait until transactions are in a block.
    """

    def __init__(self, urls: Sequence[str], *, timeout_s: float) -> None:
        self._urls, self._timeout_s = tuple(urls), timeout_s

    async def head(self, chain_id: int) -> Head:
        return await self._act(chain_id, lambda node: node.head())

    async def balance(self, chain_id: int, token: str, address: str) -> int:
        return await self._act(chain_id, lambda node: node.balance(token, address))

    async def pay(
        self,
        chain_id: int,
        token: str,
        to: str,
        amounts: Sequence[int],
        *,
        payer: int = 0,
        after_s: int | None = None,
    ) -> list[Sent]:
        async def act(node: _Node) -> list[Sent]:
            sender = await node.funded(token, sum(amounts), payer)
            await node.date_next_block(after_s)
            hashes = [await node.transfer(token, sender, to, each) for each in amounts]
            until = node.soon()
            return [
                Sent(tx_hash, sender, amount, await node.find_block_of(tx_hash, until))
                for tx_hash, amount in zip(hashes, amounts, strict=True)
            ]

        return await self._act(chain_id, act)

    async def mine(self, chain_id: int, count: int, *, after_s: int | None = None) -> Head:
        async def act(node: _Node) -> Head:
            await node.date_next_block(after_s)
            await node.ask("anvil_mine", hex(count))
            return await node.head()

        return await self._act(chain_id, act)

    async def reorganise(self, chain_id: int, depth: int) -> Head:
        async def act(node: _Node) -> Head:
            height = (await node.head()).number
            if depth >= height:
                raise NodeRefuses(f"has {height} blocks, so at most {height - 1} can be replaced")
            await node.ask("anvil_reorg", depth, [])
            return await node.head()

        return await self._act(chain_id, act)

    async def advance(self, chain_id: int, seconds: int) -> Head:
        async def act(node: _Node) -> Head:
            await node.ask("evm_increaseTime", hex(seconds))
            await node.ask("anvil_mine", "0x1")
            return await node.head()

        return await self._act(chain_id, act)

    async def _act(self, chain_id: int, act: Callable[[_Node], Awaitable[T]]) -> T:
        endpoints = endpoints_for(self._urls, chain_id)
        if chain_id in MAIN_NETS or not endpoints:
            raise NoEndpoint(chain_id)
        try:
            async with asyncio.timeout(WITHIN_S), async_client(endpoints[0]) as client:
                node = _Node(client, endpoints[0], self._timeout_s)
                if await node.quantity("eth_chainId") != chain_id:
                    raise ChainUnreachable(chain_id)
                return await act(node)
        except (TimeoutError, EndpointFailed):
            raise ChainUnreachable(chain_id) from None


@dataclass(frozen=True, slots=True)
class _Node:
    """An endpoint during one operation."""

    client: httpx.AsyncClient
    endpoint: Endpoint
    timeout_s: float

    async def ask(self, method: str, *params: Any) -> Any:
        try:
            return await call_async(
                self.client,
                self.endpoint,
                method,
                list(params),
                timeout_s=WITHIN_S,  # mining hundreds of blocks takes longer than a query
                limit=_ANSWER_LIMIT,
            )
        except RpcError as error:
            raise NodeRefuses(f"rejects {method}: {error.message[:200]}") from None

    async def quantity(self, method: str, *params: Any) -> int:
        return parse_quantity(await self.ask(method, *params))

    async def head(self) -> Head:
        block = _object(await self.ask("eth_getBlockByNumber", "latest", False))
        return Head(parse_quantity(block.get("number")), parse_quantity(block.get("timestamp")))

    async def balance(self, token: str, address: str) -> int:
        if await self.ask("eth_getCode", token, "latest") in ("0x", None):
            raise NodeRefuses(f"has no token at {token}; start it with `specd chain`")
        data = _BALANCE_OF + _word(address)
        return await self.quantity("eth_call", {"to": token, "data": data}, "latest")

    async def funded(self, token: str, amount: int, payer: int) -> str:
        """Return the node's account number `payer`. If its balance is less than `amount`, another
        account transfers the difference to it first.
        """
        accounts = await self.ask("eth_accounts")
        if not isinstance(accounts, list) or not accounts:
            raise NodeRefuses(
                "has no unlocked accounts (eth_accounts); use a development chain such as"
                " `specd chain`, or pay with a wallet"
            )
        if payer >= len(accounts):
            raise NodeRefuses(f"has {len(accounts)} unlocked accounts, so payer {payer} is unknown")
        sender = str(accounts[payer])
        lacking = amount - await self.balance(token, sender)
        if lacking > 0:
            for other in accounts:
                if other != sender and await self.balance(token, str(other)) >= lacking:
                    given = await self.transfer(token, str(other), sender, lacking)
                    await self.find_block_of(given, self.soon())
                    return sender
            raise NodeRefuses(f"has no unlocked account that can pay {amount} atoms of the token")
        return sender

    async def transfer(self, token: str, sender: str, to: str, amount: int) -> str:
        data = _TRANSFER + _word(to) + f"{amount:064x}"
        transaction = {"from": sender, "to": token, "data": data, "gas": _GAS}
        return str(await self.ask("eth_sendTransaction", transaction))[:66]

    def soon(self) -> float:
        """Return the time until which to wait for transactions to be mined."""
        return asyncio.get_running_loop().time() + self.timeout_s

    async def find_block_of(self, tx_hash: str, until: float) -> int | None:
        """Return the number of a transaction's block, or None if it has no block by `until`."""
        while True:
            receipt = await self.ask("eth_getTransactionReceipt", tx_hash)
            if receipt is not None:
                receipt = _object(receipt)
                if parse_quantity(receipt.get("status")) != 1:
                    raise NodeRefuses(f"reverted transaction {tx_hash}")
                return parse_quantity(receipt.get("blockNumber"))
            if asyncio.get_running_loop().time() > until:
                return None
            await asyncio.sleep(_LOOK_S)

    async def date_next_block(self, after_s: int | None) -> None:
        """Make the next block's timestamp later than `after_s`."""
        if after_s is not None and (head := await self.head()).time_s <= after_s:
            await self.ask("evm_setNextBlockTimestamp", max(after_s, head.time_s) + 1)


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise EndpointFailed("answered something that is not an object")
    return answer


def _word(address: str) -> str:
    """Return an address encoded as a 32-byte call argument, without 0x."""
    return address[2:].lower().rjust(64, "0")
