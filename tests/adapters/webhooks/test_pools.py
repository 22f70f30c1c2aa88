"""Connections to receivers are kept while they are used, and closed after a while."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import httpcore
import pytest

from adapters.webhooks import guarded_network, pools
from adapters.webhooks.pools import Origin, Pools

A, B, C = (("https", f"{name}.example", 443) for name in "abc")


class Pool(httpcore.AsyncConnectionPool):
    """A pool that reports whether it is closed."""

    is_closed = False

    async def aclose(self) -> None:
        self.is_closed = True
        await super().aclose()


async def used(kept: Pools, origin: Origin) -> Pool:
    async with kept.use(origin) as pool:
        assert isinstance(pool, Pool)
        return pool


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def test_pool_of_a_receiver_is_kept_until_unused_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def work() -> None:
        kept = Pools(lambda scheme: Pool())
        first = await used(kept, A)
        assert await used(kept, A) is first
        assert await used(kept, B) is not first
        monkeypatch.setattr(pools, "KEPT_FOR_S", -1.0)
        other = await used(kept, C)
        assert first.is_closed
        assert not other.is_closed
        assert await used(kept, A) is not first

    run(work())


def test_pool_in_use_is_not_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(pools, "KEPT_FOR_S", -1.0)
        kept = Pools(lambda scheme: Pool())
        async with kept.use(A) as pool:
            await used(kept, B)
            assert isinstance(pool, Pool)
            assert not pool.is_closed
            async with kept.use(A) as same:
                assert same is pool
        await used(kept, C)
        assert pool.is_closed

    run(work())


def test_oldest_of_too_many_pools_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        monkeypatch.setattr(pools, "MAX_KEPT", 1)
        kept = Pools(lambda scheme: Pool())
        first, second = await used(kept, A), await used(kept, B)
        third = await used(kept, C)
        assert [pool.is_closed for pool in (first, second, third)] == [True, False, False]
        await kept.close()
        assert second.is_closed
        assert third.is_closed

    run(work())


def test_number_of_threads_for_hanging_names_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The callers have given up long ago. Other names are resolved in other threads."""
    free, asked = threading.Event(), []

    def hang(*_: object, **__: object) -> list[Any]:
        asked.append(threading.current_thread().name)
        free.wait(60)
        return []

    async def play() -> None:
        waits = (
            asyncio.wait_for(guarded_network.resolve(f"{number}.example", 443), 0.5)
            for number in range(3 * guarded_network.RESOLVERS)
        )
        ended = await asyncio.gather(*waits, return_exceptions=True)
        assert all(isinstance(error, TimeoutError) for error in ended)
        free.set()

    monkeypatch.setattr(guarded_network, "getaddrinfo", hang)
    asyncio.run(play())
    assert len(asked) == guarded_network.RESOLVERS
    assert all(name.startswith("resolver") for name in asked)
