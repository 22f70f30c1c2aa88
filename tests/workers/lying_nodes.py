"""Histories of a chain whose nodes lag, prune, fork, fail and refuse, with a check of the payments.

The truth is one scripted chain. The product's reader and watcher see it through endpoints that
misbehave for a while, each in a different way, and some that always hide the same logs while
another endpoint returns them. Payments, reorganizations, restarts and two watchers are mixed at
random. At the end the stored state must equal a recount of the chain by code that knows neither
watcher nor nodes.

The events for merchants are checked as well (`told.py`).

    python -m tests.workers.lying_nodes --histories 10000

runs the campaign on SQLite and on PostgreSQL; `test_lying_nodes.py` runs a part of it. With
`--plant "counted: twice"`, the watcher has this fault of `mutants.py`, and each history that
detects it is printed.
"""

import argparse
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from eth_bloom import BloomFilter
from sqlalchemy import select

from adapters.chain import node
from adapters.chain.json_rpc import EndpointFailed, RpcError
from adapters.chain.reader import TRANSFER_TOPIC, EndpointsUnavailable, Transfer
from adapters.chain.rpc_reader import RpcChainReader
from models.payment.base import PaymentBase
from models.payment.checkpoints import find_checkpoint
from models.payment.invoices import FRESH
from models.payment.rescans import rescan_invoice
from models.payment.tables import ChainHead, Invoice, Payment
from specd.db import Database
from tests.live.campaign_databases import KINDS, databases
from tests.support.fake_chain import GENESIS, TOKEN, FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import CHAIN_ID, Ledger, address_of
from tests.workers.mutants import MUTANTS
from tests.workers.recount import recount
from tests.workers.told import Told
from workers.chain_watcher import ChainWatcher
from workers.payment import expire_invoices

LIFETIME, MONITORING = timedelta(minutes=10), timedelta(minutes=25)
STEPS = 36
PROGRESS_ROUNDS = 45
"""Blocks, ten seconds apart, until a new invoice must be paid, whatever cannot be read."""
LIES = (
    *("lag", "lag", "hide", "refuse", "slow", "fail", "busy", "fork", "nulls", "balanced", "prune"),
    *("forge", "removed"),
)
ENDPOINTS = (1, 2, 2, 3)
"""The maximum number of endpoints of a history."""
BOLD_LIES = ("high", "high", "broken")
"""For every second history, so that the seeds of the others stay valid."""
REFUSALS = (
    "please limit the query to at most {} blocks",
    "Maximum allowed number of requested blocks is {}",
    "exceeded maximum allowed range: {}",
    "block range is too wide",
    "Response is too big",
    "something that nobody has heard of",
)


@dataclass
class Conduct:
    """The current behavior of an endpoint."""

    lag: int = 0
    """The maximum number of blocks that its nodes for logs lag; each request reaches one of
    them.
    """
    block_lag: int = 0
    hidden: frozenset[str] = frozenset()
    """Transactions whose logs it omits."""
    widest: int = 10_000
    words: str = REFUSALS[0]
    slow_above: int = 10_000
    failing: float = 0.0
    """The fraction of requests that fail."""
    patience: bool = False
    """Whether it responds with 429 and Retry-After."""
    fork: FakeChain | None = None
    takes_hashes: bool = True
    forged: tuple[Transfer, ...] = ()
    """Logs that it returns although no block contains them."""
    nulls: float = 0.0
    """The fraction of requests for a numbered block that reach a node without it."""
    removed: frozenset[str] = frozenset()
    """Transactions whose logs it marks as removed."""
    keeps: int = 10**9
    """The number of newest blocks whose logs it still has."""
    above: int = 0
    """The number of blocks by which its reported head exceeds its newest block."""
    inflated: Mapping[str, int] = field(default_factory=dict)
    """The factor for the amounts of transactions."""
    refused_token: str = ""
    """The contract whose logs it never returns."""


@dataclass
class Endpoint:
    """One endpoint for the truth, with the interface for `Node`."""

    truth: FakeChain
    rng: random.Random
    url: str
    always_hides: set[str] = field(default_factory=set)
    conduct: Conduct = field(default_factory=Conduct)
    asked: Counter[str] = field(default_factory=Counter)
    shows_blooms: bool = True
    numbers_from: int = 0
    """Its number of the first log of a block. Nodes number logs in different ways."""

    @property
    def chain(self) -> FakeChain:
        return self.conduct.fork or self.truth

    def ask(self, method: str, params: list[Any]) -> Any:
        self.asked[method] += 1
        if self.conduct.patience:
            failure = EndpointFailed("answered HTTP 429")
            failure.retry_after_s = 30.0
            raise failure
        if self.rng.random() < self.conduct.failing:
            raise EndpointFailed("no answer in time")
        match method:
            case "eth_chainId":
                return hex(CHAIN_ID)
            case "eth_getBlockByNumber":
                top = max(0, self.chain.height - self.rng.randint(0, self.conduct.block_lag))
                if params[0] == "latest" and self.conduct.above:
                    return self._claimed(top + self.conduct.above)
                number = top if params[0] == "latest" else int(params[0], 16)
                if params[0] != "latest" and number and self.rng.random() < self.conduct.nulls:
                    return None
                return self._block(number) if number <= top else None
            case "eth_getLogs":
                return [self._numbered(log) for log in self._logs(params[0])]
            case "eth_getTransactionReceipt":
                return self._receipt(params[0])
        raise RpcError(-32601, "method not found")

    def _claimed(self, number: int) -> dict[str, Any]:
        """Return a block that was never mined."""
        return self._block(self.chain.height) | {
            "number": hex(number),
            "hash": f"0x{number:064x}",
            "parentHash": f"0x{number - 1:064x}",
            "logsBloom": f"0x{0:0512x}",
            "transactions": [],
        }

    def _block(self, number: int) -> dict[str, Any]:
        mined = self.chain._blocks[number]
        bloom = BloomFilter()
        for transfer in mined.transfers:
            log = _log(transfer)
            bloom.add(bytes.fromhex(log["address"][2:]))
            for topic in log["topics"]:
                bloom.add(bytes.fromhex(topic[2:]))
        return {
            "number": hex(number),
            "hash": mined.block.hash,
            "parentHash": mined.block.parent_hash,
            "timestamp": hex(int(mined.block.timestamp.timestamp())),
            "logsBloom": f"0x{int(bloom) if self.shows_blooms else 0:0512x}",
            "transactions": [each.hash for each in mined.transactions],
        }

    def _receipt(self, tx_hash: str) -> dict[str, Any] | None:
        top = self.chain.height - self.rng.randint(0, self.conduct.lag)
        for mined in self.chain._blocks[: top + 1]:
            logs = [self._shown(each) for each in mined.transfers if each.tx_hash == tx_hash]
            if logs:
                logs = [self._numbered(log) for log in logs]
                return {"blockHash": mined.block.hash, "logs": logs}
        return None

    def _numbered(self, log: dict[str, Any]) -> dict[str, Any]:
        return log | {"logIndex": hex(int(log["logIndex"], 16) + self.numbers_from)}

    def _shown(self, transfer: Transfer) -> dict[str, Any]:
        factor = self.conduct.inflated.get(transfer.tx_hash, 1)
        return _log(replace(transfer, amount=transfer.amount * factor))

    def _logs(self, asked: dict[str, Any]) -> list[dict[str, Any]]:
        top = self.chain.height - self.rng.randint(0, self.conduct.lag)
        if "blockHash" in asked:
            if not self.conduct.takes_hashes:
                raise RpcError(-32602, "invalid argument 0: unknown field blockHash")
            known = self.chain._blocks[: top + 1]
            numbers = [m.block.number for m in known if m.block.hash == asked["blockHash"]]
            if not numbers:
                raise RpcError(-32000, "unknown block")
            first = last = numbers[0]
        else:
            first, last = int(asked["fromBlock"], 16), int(asked["toBlock"], 16)
            blocks = last - first + 1
            if blocks > self.conduct.widest:
                raise RpcError(-32000, self.conduct.words.format(self.conduct.widest))
            if blocks > self.conduct.slow_above:
                raise EndpointFailed("no answer in time")
        if first <= self.chain.height - self.conduct.keeps:
            raise RpcError(4444, "pruned history unavailable")
        tokens = asked["address"]
        tokens = {each.lower() for each in ([tokens] if isinstance(tokens, str) else tokens)}
        if self.conduct.refused_token.lower() in tokens:
            raise RpcError(-32000, "execution aborted (timeout = 5s)")
        topics = asked["topics"]
        wanted = set(topics[2]) if len(topics) > 2 else None
        logs = [
            self._shown(transfer) | {"removed": transfer.tx_hash in self.conduct.removed}
            for mined in self.chain._blocks[first : min(last, top) + 1]
            for transfer in mined.transfers
            if transfer.token.lower() in tokens
            and transfer.tx_hash not in self.conduct.hidden | self.always_hides
        ]
        logs += [
            _log(each)
            for each in self.conduct.forged
            if first <= each.block_number <= min(last, top)
        ]
        return [log for log in logs if wanted is None or log["topics"][2] in wanted]


def _log(transfer: Transfer) -> dict[str, Any]:
    def topic(address: str) -> str:
        return "0x" + "0" * 24 + address[2:].lower()

    return {
        "address": transfer.token,
        "topics": [TRANSFER_TOPIC, topic(transfer.sender), topic(transfer.receiver)],
        "data": f"0x{transfer.amount:064x}",
        "blockNumber": hex(transfer.block_number),
        "blockHash": transfer.block_hash,
        "transactionHash": transfer.tx_hash,
        "logIndex": hex(transfer.log_index),
        "removed": False,
    }


@dataclass
class Sold:
    """An invoice, and the blocks that existed when its address was issued."""

    invoice: Invoice
    older: frozenset[str]
    """The hashes of all blocks that had been mined until then."""
    known: int
    """The newest block that the shop knew.

    Later blocks with older times may count or not, unless their time is long before `known_at`.
    """
    known_at: datetime


class History:
    """One random history on one database."""

    def __init__(self, database: Database, seed: int) -> None:
        self.rng, self.more = random.Random(seed), random.Random(~seed)
        self.is_bold, self.has_progress_check = seed % 2 == 1, seed % 3 == 0
        self.has_liar = seed % 5 == 0
        """One endpoint forges amounts and blocks, and the others are honest."""
        self.has_numbers_of_its_own = seed % 7 == 3
        """Endpoints number the same logs in different ways, and change that after a restart."""
        self.faults: list[str] = []
        """Errors during the history, except those in events for merchants."""
        self.highest = 0
        self.clock = FrozenClock(GENESIS + timedelta(days=1))
        self.chain = FakeChain(started_at=GENESIS)
        self.chain.mine(self.rng.choice([0, 5, 90, 1500]))
        self.ledger = Ledger(database, self.clock)
        self.expire_invoices = partial(expire_invoices, database, self.clock)
        self.endpoints = [
            Endpoint(self.chain, self.rng, f"http://127.0.0.1:1/{number}")
            for number in range(self.rng.choice(ENDPOINTS))
        ]
        self.sold: list[Sold] = []
        self.mined: set[str] = set()
        self.readers: list[RpcChainReader] = []
        self.many = self.rng.choice([2, 500])
        self.widest = self.rng.choice([5, 50, 1000])
        self.watchers = [self._watcher(), self._watcher()]
        self.actions: list[str] = []
        self.replaced: set[str] = set()
        """The hashes of blocks that the chain dropped, or of which an endpoint showed another
        branch.
        """
        self.chain.numbers_per_transaction = self.rng.random() < 0.4
        self._renumber()

    # Possible events.

    def sell(self) -> None:
        with self.ledger.database.reading() as books:
            checkpoint = find_checkpoint(books, CHAIN_ID)
        self._note_blocks()
        invoice = self.ledger.invoice(
            1000, confirmations=self.rng.randint(1, 4), lifetime=LIFETIME, monitoring=MONITORING
        )
        seen_at = checkpoint.head_seen_at if checkpoint else None
        known = checkpoint.block.number if checkpoint else -1
        if seen_at is None or self.clock.now() - seen_at > FRESH:
            # Like a request without a running watcher, it reads the chain itself.
            known = self.chain.height
            self._note_head(invoice)
        known_at = checkpoint.block.timestamp if checkpoint else GENESIS
        self.sold.append(Sold(invoice, frozenset(self.mined), known, known_at))

    def pay(self) -> None:
        if self.sold:
            amount = self.rng.choice([300, 700, 1000, 1000, 1500])
            receiver = self.rng.choice(self.sold).invoice.deposit_address
            self._pass(1)
            self.chain.pay(receiver, amount, at=self.clock.now(), hold=self.rng.random() < 0.3)
            self._maybe_hide()

    def pay_beforehand(self) -> None:
        """Pay to an address that is issued later."""
        self._pass(1)
        receiver = address_of(self.ledger._made + self.rng.randint(0, 2))
        self.chain.pay(receiver, 1000, at=self.clock.now())

    def mine(self) -> None:
        count = self.rng.choice([1, 1, 2, 5, 40])
        for _ in range(count):
            self._pass(self.rng.choice([1, 2, 12]))
            self.chain.mine(at=self.clock.now())

    def reorganise(self) -> None:
        depth = self.rng.randint(1, min(self.rng.choice([2, 8, 30]), max(1, self.chain.height)))
        if depth <= self.chain.height:
            self._note_blocks()
            self._note_replaced(depth)
            self._pass(depth)
            self.chain.reorg(depth, lose=self.rng.random() < 0.3)
            self._pass(2)
            self.chain.mine(self.rng.randint(1, 2), at=self.clock.now())

    def lie(self) -> None:
        """Change the behavior of one endpoint."""
        if self.has_liar and len(self.endpoints) > 1:
            self._invent()
            return
        endpoint = self.rng.choice(self.endpoints)
        conduct = Conduct()
        match self.rng.choice(LIES):
            case "lag":
                conduct.lag = self.rng.choice([3, 8, 20])
                conduct.block_lag = self.rng.choice([0, 0, 4])
            case "hide":
                conduct.hidden = frozenset(
                    transfer.tx_hash
                    for mined in self.chain._blocks[-60:]
                    for transfer in mined.transfers
                    if self.rng.random() < 0.5
                )
            case "refuse":
                conduct.widest = self.rng.choice([1, 3, 10, 100])
                conduct.words = self.rng.choice(REFUSALS)
            case "slow":
                conduct.slow_above = self.rng.choice([2, 20])
            case "fail":
                conduct.failing = self.rng.choice([0.1, 0.5])
            case "busy":
                conduct.patience = True
            case "fork":
                conduct.fork = self._fork()
            case "nulls":
                conduct.nulls = self.rng.choice([0.1, 0.4])
            case "balanced":
                conduct.lag = conduct.block_lag = self.rng.choice([2, 6, 10])
                conduct.nulls = self.rng.choice([0.0, 0.2])
            case "prune":
                conduct.keeps = self.rng.choice([10, 40, 300])
            case "forge":
                conduct.forged = tuple(self._forged() for _ in range(self.rng.randint(1, 3)))
            case "removed":
                recent = self.chain._blocks[-10:]
                conduct.removed = frozenset(t.tx_hash for m in recent for t in m.transfers)
        if self.is_bold and self.more.random() < 0.2:
            conduct = self._bold_conduct()
        conduct.takes_hashes = self.rng.random() < 0.9
        endpoint.conduct = conduct

    def _invent(self) -> None:
        conduct = Conduct(takes_hashes=self.rng.random() < 0.9)
        if self.more.random() < 0.6:
            recent = self.chain._blocks[-60:]
            conduct.inflated = {each.tx_hash: 100 for m in recent for each in m.transfers}
        else:
            conduct.fork = invented = FakeChain(started_at=GENESIS)
            invented._blocks = list(self.chain._blocks)
            invented._serial = 10**6 * (1 + self.more.randint(1, 10**6))
            receiver = self.more.choice(self.sold).invoice.deposit_address
            invented.pay(receiver, 1000, at=self.clock.now())
            invented.mine(self.more.choice([0, 1, 5, 20]))
            self.highest = max(self.highest, invented.height)
        self.endpoints[0].conduct = conduct

    def _bold_conduct(self) -> Conduct:
        match self.more.choice(BOLD_LIES):
            case "high":
                return Conduct(above=self.more.choice([2, 40, 5000]))
            case _:
                return Conduct(refused_token=TOKEN)

    def be_honest(self) -> None:
        self.rng.choice(self.endpoints).conduct = Conduct()

    def watch(self) -> None:
        number = self.rng.randrange(len(self.watchers))
        self._pass(self.rng.choice([1, 5, 20]))
        self._note_forked()
        with suppress(EndpointsUnavailable):
            for _ in range(self.rng.randint(1, 5)):
                self.watchers[number].try_watch_one()
        self._check_confirmations()

    def restart(self) -> None:
        self.watchers[self.rng.randrange(len(self.watchers))] = self._watcher()
        self._renumber()

    def _renumber(self) -> None:
        if self.has_numbers_of_its_own:
            for endpoint in self.endpoints:
                endpoint.numbers_from = self.more.choice([0, 0, 1, 7, 5000])

    def wait(self) -> None:
        self._pass(self.rng.choice([30, 120]))

    def expire(self) -> None:
        self.expire_invoices()

    # One history.

    def play(self) -> None:
        """Run random events, then let time pass until nothing is pending."""
        weighted: list[tuple[Callable[[], None], int]] = [
            (self.sell, 4),
            (self.pay, 6),
            (self.pay_beforehand, 1),
            (self.mine, 5),
            (self.reorganise, 2),
            (self.lie, 4),
            (self.be_honest, 2),
            (self.watch, 10),
            (self.restart, 1),
            (self.wait, 2),
            (self.expire, 2),
        ]
        actions = [action for action, weight in weighted for _ in range(weight)]
        self.sell()
        for _ in range(STEPS):
            action = self.rng.choice(actions)
            self.actions.append(action.__name__)
            action()
        if self.has_progress_check:
            self._check_progress()
        self._end()

    def wrong(self) -> list[str]:
        """Return the differences between the stored state and a recount."""
        stamps = {m.block.number: m.block.timestamp for m in self.chain._blocks}
        transfers = self.chain.canonical_transfers()
        head = self.chain.height
        found = []
        for sold in self.sold:
            younger = [t for t in transfers if t.block_hash not in sold.older]
            oldest = sold.known_at - timedelta(minutes=2)
            maybe = [
                t
                for t in transfers
                if t.block_hash in sold.older
                and (t.block_number > sold.known or stamps[t.block_number] >= oldest)
            ]
            counted = self._counted(sold.invoice)
            rows = [t for t in transfers if _key(t) in counted]
            must = {_key(t) for t in younger if self._is_its(sold.invoice, t, stamps)}
            may = {_key(t) for t in maybe}
            state = self.ledger.state(sold.invoice)
            told = (state.status, state.paid, state.pending)
            right = recount(sold.invoice, rows, stamps, head=head)
            if told != right or not must <= counted <= must | may or len(rows) != len(counted):
                found.append(
                    f"{sold.invoice.external_order_id}: {state}, recounted {right}, missing"
                    f" {len(must - counted)}, too many {len(counted - must - may)}, payments"
                    f" {self.ledger.payments(sold.invoice)}"
                )
        if self.ledger.checkpoint() != head:
            found.append(f"read up to {self.ledger.checkpoint()}, not {head}")
        return found

    def misled(self) -> list[str]:
        """Return the errors in the events of a merchant who follows them exactly."""
        found = []
        for sold in self.sold:
            told = Told.of(self.ledger, sold.invoice.id)
            found += [
                f"{sold.invoice.external_order_id}: {each}; told {told.types}"
                for each in told.wrong(self.replaced)
            ]
        return found

    def _counted(self, invoice: Invoice) -> set[tuple[str, str, int]]:
        """Return the transfers that the stored state counts for an invoice."""
        with self.ledger.database.reading() as books:
            rows = books.execute(
                select(
                    Payment.block_hash, Payment.tx_hash, Payment.log_index, Payment.amount
                ).where(Payment.invoice_id == invoice.id, Payment.status != "orphaned")
            ).all()
            keys = [(row.block_hash, row.tx_hash, row.log_index) for row in rows]
            amounts = [row.amount for row in rows]
        if self.has_numbers_of_its_own:
            keys = self._with_numbers_of_the_chain(invoice, keys, amounts)
        return set(keys)

    def _with_numbers_of_the_chain(
        self, invoice: Invoice, keys: list[tuple[str, str, int]], amounts: list[int]
    ) -> list[tuple[str, str, int]]:
        """Return the keys with the chain's numbers of equal transfers, and with negative numbers
        for transfers that the chain does not have.
        """
        unused: dict[tuple[str, str, int], list[int]] = {}
        for each in self.chain.canonical_transfers():
            if each.receiver == invoice.deposit_address and each.token == invoice.token_address:
                equal = (each.block_hash, each.tx_hash, each.amount)
                unused.setdefault(equal, []).append(each.log_index)
        found = []
        for (block, tx, number), amount in zip(keys, amounts, strict=True):
            numbers = unused.get((block, tx, amount))
            found.append((block, tx, numbers.pop(0) if numbers else -1 - number))
        return found

    def _is_its(self, invoice: Invoice, transfer: Transfer, stamps: Mapping[int, datetime]) -> bool:
        return (
            transfer.receiver == invoice.deposit_address
            and transfer.token == invoice.token_address
            and stamps[transfer.block_number] <= invoice.monitoring_ends_at
        )

    def _check_confirmations(self) -> None:
        """Check that no confirmed head dates a payment earlier than its blocks."""
        self.highest = max(self.highest, self.chain.height)
        with self.ledger.database.reading() as books:
            early = books.execute(
                select(Payment.invoice_id, Payment.block_number)
                .join(Invoice, Invoice.id == Payment.invoice_id)
                .where(
                    Payment.status == "confirmed",
                    Payment.block_number > self.highest - Invoice.confirmations_required + 1,
                )
            ).all()
        self.faults += [f"{row.invoice_id} is confirmed too early, {self.highest}" for row in early]

    def _check_progress(self) -> None:
        """Check that a new invoice is paid in time while no endpoint returns the logs of old
        blocks.
        """
        for _ in range(40):
            self._pass(20)
            self.chain.mine(at=self.clock.now())
        self.expire_invoices()
        for endpoint in self.endpoints:
            endpoint.conduct = Conduct(keeps=20)
        self.sell()
        sold = self.sold[-1].invoice
        self.chain.pay(sold.deposit_address, 1000, at=self.clock.now())
        for _ in range(PROGRESS_ROUNDS):
            self._pass(10)
            self.chain.mine(at=self.clock.now())
            with suppress(EndpointsUnavailable):
                for _ in range(5):
                    self.watchers[0].try_watch_one()
            if self.ledger.state(sold).status == "paid":
                return
        self.faults.append(f"{sold.external_order_id}: not paid while old blocks cannot be read")

    def _end(self) -> None:
        """End the misbehavior of all nodes, except one that still hides logs which another
        returns.
        """
        for endpoint in self.endpoints:
            endpoint.conduct = Conduct(widest=self.rng.choice([10_000, 30]))
        watcher = self.watchers[0]
        for number in range(8):
            self._pass(240)
            self.chain.mine(self.rng.choice([1, 40]), at=self.clock.now())
            quiet = 0
            for _ in range(100):
                try:
                    quiet = 0 if watcher.try_watch_one() else quiet + 1
                except EndpointsUnavailable:
                    self._pass(10)
                if quiet == 2:
                    break
            while self.expire_invoices():
                pass
            if number == 0:
                self._rescan_what_was_given_up()

    def _rescan_what_was_given_up(self) -> None:
        """Rescan as an operator does after the alert, with endpoints that have the blocks again."""
        with self.ledger.database.reading() as books:
            given_up = books.scalar(select(ChainHead.readings_given_up))
        if given_up:
            for sold in self.sold:
                self.ledger.database.run(partial(rescan_invoice, invoice_id=sold.invoice.id))

    def close(self) -> None:
        for reader in self.readers:
            reader.close()

    def _watcher(self) -> ChainWatcher:
        reader = RpcChainReader(
            [endpoint.url for endpoint in self.endpoints],
            CHAIN_ID,
            1.0,
            lambda: watcher.least_head(),
            genesis=lambda: watcher.genesis_hash(),
            widest=self.widest,
            transports={each.url: each.ask for each in self.endpoints},
        )
        self.readers.append(reader)
        watcher = ChainWatcher(
            self.ledger.database,
            reader,
            self.clock,
            chain_id=CHAIN_ID,
            many=self.many,
            ended_every=timedelta(seconds=60),
        )
        return watcher

    def _fork(self) -> FakeChain:
        """Return the chain without its newest blocks, with others instead."""
        fork = FakeChain(started_at=GENESIS)
        fork._blocks = list(self.chain._blocks)
        fork._serial = 10**6 * (1 + self.rng.randint(1, 10**6))
        depth = min(self.rng.randint(1, 10), fork.height)
        if depth:
            self._note_replaced(depth)
            fork.reorg(depth, length=depth + self.rng.randint(-1, 2))
            self.highest = max(self.highest, fork.height)
            fork.pending = []
        return fork

    def _maybe_hide(self) -> None:
        """Let one endpoint hide this payment forever, while another returns it."""
        if len(self.endpoints) > 1 and self.rng.random() < 0.2:
            transfers = self.chain._blocks[-1].transfers
            self.endpoints[0].always_hides.update(each.tx_hash for each in transfers)

    def _note_head(self, invoice: Invoice) -> None:
        head = self.chain.head()

        def write(session: Any) -> None:
            stored = session.get(Invoice, invoice.id)
            if stored.creation_block is None or stored.creation_block < head.number:
                stored.creation_head, stored.creation_head_hash = head.number, head.hash

        self.ledger.database.run(write)

    def _note_blocks(self) -> None:
        self.mined.update(mined.block.hash for mined in self.chain._blocks)

    def _note_replaced(self, depth: int) -> None:
        self.replaced.update(mined.block.hash for mined in self.chain._blocks[-depth:])

    def _note_forked(self) -> None:
        """Record the blocks that an endpoint on another branch lacks since the fork."""
        for endpoint in self.endpoints:
            fork = endpoint.conduct.fork
            if fork is not None and not self.has_liar:
                ours, theirs = self.chain._blocks, fork._blocks
                same = [a.block.hash == b.block.hash for a, b in zip(ours, theirs, strict=False)]
                if not all(same):
                    self._note_replaced(len(ours) - same.index(False))

    def _forged(self) -> Transfer:
        """Return a log that its block does not contain."""
        mined = self.rng.choice(self.chain._blocks[-8:])
        return Transfer(
            token=TOKEN,
            sender=f"0x{self.rng.randrange(10**38):040d}",
            receiver=self.rng.choice(self.sold).invoice.deposit_address,
            amount=1000,
            tx_hash=f"0x{self.rng.randrange(16**64):064x}",
            log_index=self.rng.randint(0, 3),
            block_number=mined.block.number,
            block_hash=mined.block.hash,
        )

    def _pass(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)


def _key(transfer: Transfer) -> tuple[str, str, int]:
    return (transfer.block_hash, transfer.tx_hash, transfer.log_index)


@contextmanager
def frozen_nodes(clock: Callable[[], datetime]) -> Iterator[None]:
    """Let nodes rest and wait by the history's clock."""
    real = node.time
    node.time = SimpleNamespace(monotonic=lambda: clock().timestamp())  # type: ignore[assignment]
    try:
        yield
    finally:
        node.time = real


def judge(database: Database, seed: int) -> list[str]:
    """Return the errors of one history on an empty database, during the history and at its end."""
    history = History(database, seed)
    try:
        with frozen_nodes(history.clock.now):
            history.play()
        on_the_way = history.faults + history.misled()
        found = history.wrong() + [f"on the way: {each}" for each in on_the_way]
    finally:
        history.close()
    return [f"seed {seed}: {each}" for each in found]


def play(template: Path, folder: Path, seed: int) -> list[str]:
    """Return the errors of one history on a copy of a database."""
    pages = folder / f"history-{seed}.db"
    shutil.copy(template, pages)
    try:
        with closing(Database(f"sqlite:///{pages}")) as database:
            return judge(database, seed)
    finally:
        for each in folder.glob(f"history-{seed}.db*"):
            each.unlink()


def judge_many(url: str, seeds: range) -> Iterator[list[str]]:
    """Checks consecutive histories on one database, which is emptied before each, so that its
    statements stay compiled.
    """
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    tables = [each for each in reversed(PaymentBase.metadata.sorted_tables)]
    with closing(Database(url)) as database:
        for seed in seeds:
            database.run(lambda session: [session.execute(each.delete()) for each in tables])
            yield judge(database, seed)


def main() -> int:
    """Run many histories on a database of each kind, in a process each. Return 1 if any is
    wrong.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--histories", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1, help="for each kind of database")
    parser.add_argument("--only", default="", help="sqlite or postgresql")
    parser.add_argument("--seconds", type=float, default=86_400, help="the longest time")
    parser.add_argument("--plant", choices=MUTANTS, help="a fault that the watcher has")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.histories)
    parts = [
        (kind, seeds[part :: asked.processes])
        for kind in ([asked.only] if asked.only else KINDS)
        for part in range(asked.processes)
    ]
    with ProcessPoolExecutor(len(parts)) as processes:
        return int(any(processes.map(partial(_play_part, asked.seconds, asked.plant), parts)))


def _play_part(seconds: float, plant: str | None, part: tuple[str, range]) -> int:
    """Return the number of wrong histories on a database of one kind."""
    if plant:
        MUTANTS[plant](pytest.MonkeyPatch())
    kind, seeds = part
    started, wrong, played = time.monotonic(), 0, 0
    for name, url in databases("payment", only=kind):
        for found in judge_many(url, seeds):
            played += 1
            wrong += bool(found)
            if found or played % 100 == 0:
                print(f"{name}: {played} histories, {wrong} wrong", *found, sep="\n  ", flush=True)
            if time.monotonic() - started > seconds:
                break
        spent = time.monotonic() - started
        print(f"{name}: {played} histories, {wrong} wrong, {spent / max(1, played):.2f} s each")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
