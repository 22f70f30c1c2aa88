"""The actions of a development chain on a scripted chain in memory."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from adapters.chain.development import Head, Sent
from tests.support.fake_chain import FakeChain


class ChainInMemory:
    """A `DevelopmentChains` of one chain. Blocks are a second apart."""

    def __init__(self, chain: FakeChain) -> None:
        self.chain = chain

    async def head(self, chain_id: int) -> Head:
        head = self.chain.head()
        return Head(head.number, int(head.timestamp.timestamp()))

    async def balance(self, chain_id: int, token: str, address: str) -> int:
        return sum(
            transfer.amount
            for transfer in self.chain.canonical_transfers()
            if (transfer.token, transfer.receiver) == (token, address)
        )

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
        made = []
        for amount in amounts:
            sender = f"0x{payer:040x}"
            sent = self.chain.pay(to, amount, token=token, sender=sender, at=self._next(after_s))
            made.append(Sent(sent.hash, sender, amount, self.chain.height))
        return made

    async def mine(self, chain_id: int, count: int, *, after_s: int | None = None) -> Head:
        self.chain.mine(count, at=self._next(after_s))
        return await self.head(chain_id)

    async def reorganise(self, chain_id: int, depth: int) -> Head:
        self.chain.reorg(depth, lose=True)
        return await self.head(chain_id)

    async def advance(self, chain_id: int, seconds: int) -> Head:
        self.chain.mine(at=self.chain.head().timestamp + timedelta(seconds=seconds))
        return await self.head(chain_id)

    def _next(self, after_s: int | None) -> datetime:
        """Return the time of the next block, which is later than `after_s`."""
        newest = int(self.chain.head().timestamp.timestamp())
        return datetime.fromtimestamp(max(newest, after_s or 0) + 1, UTC)
