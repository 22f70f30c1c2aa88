"""The number of requests to a provider, counted at the endpoint by simulated days.

Providers charge for requests. The figures are in docs/providers.md.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select

from adapters.chain.reader import EndpointsUnavailable
from adapters.chain.rpc_reader import RpcChainReader
from models.payment.tables import Invoice, PaymentMethod
from specd.db import Database
from tests.support.fake_chain import TOKEN, FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all
from tests.workers.ledger import CHAIN_ID, PROJECT_ID, Ledger
from tests.workers.lying_nodes import REFUSALS, Conduct, Endpoint, frozen_nodes
from workers.chain_pace import Pace
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices

BLOCK_S = 2
BUSY_S = 120
IDLE_S = 600
DAY = 86_400
SIX_HOURS = 6 * 3600

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Provider:
    """Endpoints, the watcher as its worker runs it, and a clock for both."""

    def __init__(self, ledger: Ledger, *, widest: int = 1000, endpoints: int = 1) -> None:
        self.ledger, self.clock = ledger, ledger.clock
        self.chain = FakeChain(block_seconds=BLOCK_S)
        self.endpoints = [
            Endpoint(self.chain, random.Random(number), f"http://127.0.0.1:1/{number}")
            for number in range(endpoints)
        ]
        self.endpoint = self.endpoints[0]
        reader = RpcChainReader(
            [each.url for each in self.endpoints],
            CHAIN_ID,
            3.0,
            lambda: self.watcher.least_head(),
            genesis=lambda: self.watcher.genesis_hash(),
            widest=widest,
            transports={each.url: each.ask for each in self.endpoints},
        )
        self.watcher = ChainWatcher(ledger.database, reader, self.clock, chain_id=CHAIN_ID)
        self.expire = partial(expire_invoices, ledger.database, self.clock)
        self.pace = Pace(
            self.clock, self.watcher.is_awaited, poll_s=1.0, idle_s=25.0, is_development=False
        )
        self.poll()

    def poll(self) -> None:
        """Run one poll of the worker."""
        while self.pace.is_due():
            try:
                more = self.watcher.try_watch_one()
            except EndpointsUnavailable:
                return
            if not more:
                self.pace.note(self.watcher.head)
                return

    def calls(self) -> int:
        return sum(each.asked.total() for each in self.endpoints)

    def live(self, seconds: int, *, blocks: bool = True) -> int:
        """Let time pass, with a block every two seconds, and return the number of requests."""
        before = self.calls()
        for second in range(seconds):
            self.clock.advance(seconds=1)
            if blocks and second % BLOCK_S == 0:
                self.chain.mine(at=self.clock.now())
            self.poll()
            if second % 10 == 0:
                while self.expire():
                    pass
        return self.calls() - before

    def open_invoices(self, count: int, *, tokens: int) -> None:
        """Create open invoices with this number of methods, spread over the last half hour."""
        first = self.ledger.invoice(1000)
        columns = {column.name: getattr(first, column.name) for column in Invoice.__table__.columns}
        now = self.clock.now()
        names = [f"0x{number + 10:040d}" for number in range(tokens - 1)]
        methods = [
            {
                "project_id": PROJECT_ID,
                "id": f"token-{number}",
                "chain_id": CHAIN_ID,
                "chain_name": "Test",
                "token_symbol": "T",
                "token_address": name,
                "decimals": 6,
                "confirmations_required": 2,
                "created_at": now,
            }
            for number, name in enumerate(names)
        ]
        rows = []
        for number in range(count):
            begin = now - timedelta(seconds=1800 * number / count)
            rows.append(
                columns
                | {
                    "id": f"{number:08d}-0000-4000-8000-000000000000",
                    "external_order_id": f"open-{number}",
                    "deposit_address": f"0x{'3'}{number:039d}",
                    "token_address": (TOKEN, *names)[number % tokens],
                    "catch_up_block": None,
                    "creation_block": self.chain.height,
                    "created_at": begin,
                    "expires_at": begin + timedelta(seconds=1800),
                    "monitoring_ends_at": begin + timedelta(hours=24),
                }
            )

        def write(session: Any) -> None:
            session.execute(insert(PaymentMethod.__table__), methods) if methods else None
            session.execute(insert(Invoice.__table__), rows)

        self.ledger.database.run(write)


@contextmanager
def provider(database: Database, clock: FrozenClock, **options: int) -> Iterator[Provider]:
    with frozen_nodes(clock.now):
        yield Provider(Ledger(database, clock), **options)


def test_an_idle_chain_costs_at_most_20_000_questions_a_day(
    database: Database, clock: FrozenClock
) -> None:
    with provider(database, clock) as idle:
        idle.live(60)
        without_blocks = idle.live(IDLE_S, blocks=False) * DAY / IDLE_S
        with_blocks = idle.live(IDLE_S) * DAY / IDLE_S
        print(f"idle: {without_blocks:.0f} without blocks, {with_blocks:.0f} with blocks a day")
        assert without_blocks <= 20_000
        assert with_blocks <= 20_000


def test_late_money_alone_costs_at_most_20_000_questions_a_day(
    database: Database, clock: FrozenClock
) -> None:
    with provider(database, clock) as quiet:
        quiet.open_invoices(30, tokens=1)
        quiet.clock.advance(seconds=1900)
        quiet.live(60)  # all of them expire
        with quiet.ledger.database.reading() as reader:
            assert set(reader.scalars(select(Invoice.status))) == {"expired"}
        calls = quiet.live(IDLE_S) * DAY / IDLE_S
        print(f"monitored alone: {calls:.0f} a day")
        assert calls <= 20_000


@pytest.mark.parametrize(("tokens", "endpoints", "most"), [(1, 1, 4.0), (10, 1, 4.0), (10, 2, 4.5)])
def test_a_busy_chain_costs_few_questions_per_block(
    database: Database, clock: FrozenClock, tokens: int, endpoints: int, most: float
) -> None:
    with provider(database, clock, endpoints=endpoints) as busy:
        busy.live(60)
        busy.open_invoices(685, tokens=tokens)
        calls = busy.live(BUSY_S) / (BUSY_S / BLOCK_S)
        print(f"busy, {tokens} tokens, {endpoints} endpoints: {calls:.2f} per block")
        assert calls <= most


@pytest.mark.parametrize(("takes", "most"), [(1000, 100), (10, 1500)])
def test_six_hours_are_caught_up_in_few_questions(
    database: Database, clock: FrozenClock, takes: int, most: int
) -> None:
    with provider(database, clock) as late:
        late.live(60)
        late.open_invoices(20, tokens=1)
        late.endpoint.conduct = Conduct(widest=takes, words="block range is too wide")
        before = late.calls()
        for _ in range(SIX_HOURS // BLOCK_S):
            late.clock.advance(seconds=BLOCK_S)
            late.chain.mine(at=late.clock.now())
        late.poll()
        assert late.ledger.checkpoint() == late.chain.height
        print(f"six hours at {takes} blocks: {late.calls() - before} questions")
        assert late.calls() - before <= most


WORDINGS = (
    "query returned more than 10000 results",
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range",
    "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.",
    "eth_getLogs is limited to a 10,000 range",
    "block range is too wide",
    "Block range is too large",
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    "exceed maximum block range: 5000",
    "requested too many blocks from 0 to 100000, maximum is set to 2048",
    "query exceeds max block range 100000",
    "query exceeds max results 20000, retry with the range 1-500",
    "ranges over 10000 blocks are not supported on freetier",
    "block range greater than 10000 max",
    "Block range limit exceeded. See more details at https://docs.example",
    "eth_getLogs is limited to 0 - 10000 blocks range",
    "query timeout exceeded",
    "backend response too large",
    "range of blocks is too wide: limit 500",
    "please limit the query to at most 1000 blocks",
    "Maximum allowed number of requested blocks is 1000",
    "Response is too big",
    "query timed out",
    "context deadline exceeded",
    "execution timeout",
    "request timed out",
    "exceeded maximum allowed range: 100",
    "Please specify an address in your request or, to remove restrictions, order a dedicated node",
    "block range exceeds configured limit",
    "getLogs request exceeded max allowed range",
    "too many blocks requested",
    "log response size exceeded",
    "limit exceeded",
    "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range",
    "the block range is too large, maximum 50",
    "Requested range exceeds the limit of 30 blocks",
    "range too large",
    "logs matched by query exceeds limit of 10000",
    "distance between fromBlock and toBlock must be at most 64",
    "unsupported block span",
    "bad request",
)  # 40
EFFECTS = {
    "slow above 20 blocks": Conduct(slow_above=20),
    "slow above 1 block": Conduct(slow_above=1),
    "refuses all but 3 blocks": Conduct(widest=3, words=REFUSALS[-1]),
    "refuses all but 1 block": Conduct(widest=1, words=REFUSALS[-1]),
    "takes no hashes": Conduct(widest=40, takes_hashes=False),
    "fails now and then": Conduct(slow_above=50, failing=0.1),
}  # 6


def caught_up(
    database: Database, clock: FrozenClock, conduct: Conduct, *, blocks: int = 300
) -> None:
    with provider(database, clock) as late:
        invoice = late.ledger.invoice(1000)
        late.live(10)
        for _ in range(blocks // 5):
            late.chain.mine(at=late.clock.now())
        late.chain.pay(invoice.deposit_address, 1000, at=late.clock.now())
        for _ in range(blocks - blocks // 5):
            late.chain.mine(at=late.clock.now())
        late.endpoint.conduct = conduct
        for _ in range(1000):
            if late.ledger.checkpoint() == late.chain.height:
                break
            late.clock.advance(seconds=10)
            late.poll()
        assert late.ledger.checkpoint() == late.chain.height
        assert late.ledger.state(invoice).status == "paid"


@pytest.mark.parametrize(
    "words", [in_all(each) if at % 4 else each for at, each in enumerate(WORDINGS)]
)
def test_catches_up_whatever_a_refusal_says(
    database: Database, clock: FrozenClock, words: str
) -> None:
    conduct = Conduct(widest=17, words=words.replace("{", ""))
    caught_up(database, clock, conduct, blocks=60)


@pytest.mark.parametrize("effect", EFFECTS)
def test_catches_up_whatever_a_provider_does(
    database: Database, clock: FrozenClock, effect: str
) -> None:
    caught_up(database, clock, EFFECTS[effect])
