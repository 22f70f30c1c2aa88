"""A watcher with scripted endpoints, through the product's reader, by one frozen clock."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import orjson
from sqlalchemy import select

from adapters.chain.reader import EndpointsUnavailable
from adapters.chain.rpc_reader import RpcChainReader
from models.payment.tables import Event, Invoice
from specd.db import Database
from tests.support.fake_chain import FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, Ledger
from tests.workers.lying_nodes import Endpoint, frozen_nodes
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices


class Street:
    """One merchant, one chain, and several endpoints for it."""

    def __init__(
        self, ledger: Ledger, *, endpoints: int = 1, many: int = 500, block_seconds: int = 2
    ) -> None:
        self.ledger, self.clock = ledger, ledger.clock
        self.chain = FakeChain(started_at=self.clock.now(), block_seconds=block_seconds)
        self.endpoints = [
            Endpoint(self.chain, random.Random(number), f"http://127.0.0.1:1/{number}")
            for number in range(endpoints)
        ]
        self._many = many
        self.expire = partial(expire_invoices, ledger.database, self.clock)
        self.restart()
        self.watch()

    def restart(self) -> None:
        """Continue with a watcher of another process."""
        self.reader = RpcChainReader(
            [each.url for each in self.endpoints],
            CHAIN_ID,
            3.0,
            lambda: self.watcher.least_head(),
            genesis=lambda: self.watcher.genesis_hash(),
            transports={each.url: each.ask for each in self.endpoints},
        )
        self.watcher = ChainWatcher(
            self.ledger.database,
            self.reader,
            self.clock,
            chain_id=CHAIN_ID,
            many=self._many,
            ended_every=timedelta(seconds=60),
        )

    def watch(self, *, most: int = 100) -> None:
        """Run the worker until nothing is left to do."""
        for _ in range(most):
            try:
                if not self.watcher.try_watch_one():
                    break
            except EndpointsUnavailable:
                break

    def mine(self, count: int = 1) -> None:
        """Mine blocks as time passes, and run the watcher after each."""
        for _ in range(count):
            self.clock.advance(seconds=self.chain.block_seconds)
            self.chain.mine(at=self.clock.now())
            self.watch()
            while self.expire():
                pass

    def wait(self, seconds: float, *, every: float = 2) -> None:
        """Run the watcher while no block is mined."""
        for _ in range(round(seconds / every)):
            self.clock.advance(seconds=every)
            self.watch()

    def fork_of(self, *, depth: int, higher: int) -> FakeChain:
        """Return the chain with its newest blocks replaced by a larger number of empty ones."""
        fork = FakeChain(started_at=self.chain._blocks[0].block.timestamp)
        fork._blocks = list(self.chain._blocks)
        fork._serial = 10**6
        fork.block_seconds = 1
        fork.reorg(depth, length=depth + higher, lose=True)
        return fork

    def told(self, invoice: Invoice) -> list[str]:
        """Return the types of the invoice's events in order, without the prefix."""
        with self.ledger.database.reading() as reader:
            rows = reader.execute(
                select(Event.type).where(Event.invoice_id == invoice.id).order_by(Event.id)
            )
            return [row.type.removeprefix("invoice.") for row in rows]

    def payloads(self, invoice: Invoice) -> list[dict[str, object]]:
        """Return the events' data."""
        with self.ledger.database.reading() as reader:
            rows = reader.execute(
                select(Event.data).where(Event.invoice_id == invoice.id).order_by(Event.id)
            )
            return [orjson.loads(row.data) for row in rows]


@contextmanager
def street(database: Database, clock: FrozenClock, **options: int) -> Iterator[Street]:
    with frozen_nodes(clock.now):
        yield Street(Ledger(database, clock), **options)
