"""Webhooks sent by a simple script: httpx, asyncio.gather, everything in memory.

It stores nothing, retries nothing and keeps no order. It measures only the cost of signing and
posting, the upper limit of a sender in one process.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

import httpx

from benchmarks.webhooks.shops import Message
from models.webhooks import signing

AT_ONCE = 64
TIMEOUT_S = 15.0


def post_all(addresses: Sequence[str], messages: Sequence[Message]) -> None:
    """Post each message to its shop's address. Raise an error if one is not accepted."""
    asyncio.run(_post_all(addresses, messages))


async def _post_all(addresses: Sequence[str], messages: Sequence[Message]) -> None:
    secret = signing.new_secret()
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=2 * AT_ONCE)
    async with httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S, trust_env=False) as client:

        async def post(message: Message) -> None:
            headers = signing.sign(message.id, message.body, [secret], now=datetime.now(UTC))
            sent = {"Content-Type": "application/json", **headers}
            address = addresses[message.shop]
            answer = await client.post(address, content=message.body, headers=sent)
            answer.raise_for_status()

        for start in range(0, len(messages), AT_ONCE):
            await asyncio.gather(*map(post, messages[start : start + AT_ONCE]))
