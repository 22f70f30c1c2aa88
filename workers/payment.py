"""The payment service's workers, by name."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from ipaddress import ip_network

import orjson

from adapters.chain.development import RpcDevelopmentChains
from adapters.chain.gateway import RpcChainGateway
from adapters.chain.json_rpc import EndpointFailed, RpcError
from adapters.chain.rpc_reader import RpcChainReader
from adapters.webhooks.sender import WebhookSender
from models.payment import receivers
from models.payment.expiry import try_expire_some
from models.payment.leases import watcher_of
from models.payment.test_helpers import faults
from models.payment.test_helpers.faults import Fault, Kind
from models.payment.webhooks.queue import Message
from models.payment.webhooks.vault import open_vault
from settings import Settings
from specd.db import Clock, Database
from specd.workers import Worker, WorkerContext
from workers.chain_pace import Pace
from workers.chain_watcher import DEVELOPMENT_CHAINS, READ_ANEW_EVERY, ChainWatcher
from workers.leadership import Leadership
from workers.scenario_runs import ScenarioRunner
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

LOOK_FOR_CHAINS_EVERY_S = 5.0
EXPIRY_EVERY_S = 2.0
EXPIRED_AT_ONCE = 100
SCENARIOS_EVERY_S = 0.1
TESTED_READ_ANEW_EVERY = timedelta(seconds=1)
"""How often expired invoices are scheduled to be read again if test helpers are enabled, because
merchants then wait for the expiry.
"""


def chain_watcher(context: WorkerContext[Settings]) -> Worker:
    """Starts a watcher for each chain that has a payment method and an endpoint."""
    gateway = RpcChainGateway(
        context.settings.chain_rpc_urls, timeout_s=context.settings.chain_rpc_timeout_s
    )
    watched: set[int] = set()

    def try_start_one() -> bool:
        with context.database.reading() as reader:
            chains = receivers.find_chains(reader)
        for chain_id in chains:
            if chain_id not in watched and gateway.is_configured(chain_id):
                watched.add(chain_id)
                context.pool.start(watch_chain(context, chain_id))
                return True
        return False

    return Worker("chain_watcher", try_start_one, poll_s=LOOK_FOR_CHAINS_EVERY_S)


def watch_chain(context: WorkerContext[Settings], chain_id: int) -> Worker:
    """Return the watcher of one chain. A lease elects one of several processes."""
    settings = context.settings
    name = watcher_of(chain_id)
    leadership = Leadership(context.database, context.clock, name=name)
    reader = RpcChainReader(
        settings.chain_rpc_urls,
        chain_id,
        settings.chain_rpc_timeout_s,
        lambda: watcher.least_head(),
        genesis=lambda: watcher.genesis_hash(),
        widest=settings.chain_log_range,
        before=partial(suffer_fault, context.database, chain_id)
        if settings.has_test_helpers
        else lambda: None,
    )
    watcher = ChainWatcher(
        context.database,
        reader,
        context.clock,
        chain_id=chain_id,
        may_replace=settings.development,
        read_anew_every=TESTED_READ_ANEW_EVERY if settings.has_test_helpers else READ_ANEW_EVERY,
    )
    pace = Pace(
        context.clock,
        watcher.is_awaited,
        poll_s=settings.chain_poll_s,
        # With test helpers, merchants also wait for payments to expired invoices.
        idle_s=settings.chain_poll_s if settings.has_test_helpers else settings.chain_idle_poll_s,
        is_development=chain_id in DEVELOPMENT_CHAINS,
    )

    def try_one() -> bool:
        if not leadership.try_lead() or not pace.is_due():
            return False
        try:
            more = watcher.try_watch_one()
            if not more:
                pace.note(watcher.head)
            return more
        except Exception:
            # Another process may be able to reach an endpoint that this one cannot.
            leadership.release()
            raise

    def close() -> None:
        leadership.release()
        reader.close()

    return Worker(name, try_one, poll_s=settings.chain_poll_s, close=close)


def suffer_fault(database: Database, chain_id: int) -> None:
    """Delay a call to a chain or raise an error if a fault is to be simulated."""
    match faults.try_take(database, faults.chain_target(chain_id)):
        case Fault(Kind.LAG, lag):
            time.sleep(lag.total_seconds())
        case Fault(Kind.FAIL):
            raise RpcError(-32603, "simulated failure")
        case Fault(Kind.REFUSE):
            raise EndpointFailed("refused the connection (simulated)")


def invoice_expiry(context: WorkerContext[Settings]) -> Worker:
    """Expires invoices; any number of processes share the work. Clients do not depend on it,
    because reads compute the expiry from the clock.
    """
    step = partial(expire_invoices, context.database, context.clock)
    return Worker("invoice_expiry", step, poll_s=EXPIRY_EVERY_S)


def expire_invoices(database: Database, clock: Clock, *, limit: int = EXPIRED_AT_ONCE) -> bool:
    """Settle a batch of invoices whose time is over. Return whether there were any."""
    now = clock.now()
    return database.run(lambda session: try_expire_some(session, now=now, limit=limit))


def webhooks(context: WorkerContext[Settings]) -> Worker:
    """Posts events to webhook endpoints; any number of processes share the endpoints."""
    settings = context.settings
    sender = WebhookSender([ip_network(network) for network in settings.webhook_networks])
    vault = open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)
    find_fault = partial(find_posting_fault, context.database)
    posting = Posting(
        sender,
        vault,
        context.clock,
        find_fault=find_fault if settings.has_test_helpers else None,
    )
    worker = WebhookWorker(context.database, context.clock, posting)
    # The step itself waits for notifications.
    return Worker(
        "webhooks", worker.try_round, poll_s=0.0, close=worker.close, silent_s=posting.silent_s
    )


def find_posting_fault(database: Database, message: Message) -> Fault | None:
    """Return the fault to simulate for a message about an invoice, or None."""
    invoice = orjson.loads(message.data).get("invoice")
    return faults.try_take(database, faults.invoice_target(invoice["id"])) if invoice else None


def scenario_runs(context: WorkerContext[Settings]) -> Worker:
    """Runs scenarios if test helpers are enabled; a lease elects one process."""
    settings, name = context.settings, "scenario_runs"
    if not settings.has_test_helpers:
        return Worker(name, lambda: False, poll_s=LOOK_FOR_CHAINS_EVERY_S)
    leadership = Leadership(context.database, context.clock, name=name)
    runner = ScenarioRunner(
        context.database,
        context.clock,
        RpcDevelopmentChains(settings.chain_rpc_urls, timeout_s=settings.chain_rpc_timeout_s),
        WebhookSender([ip_network(network) for network in settings.webhook_networks]),
    )
    return Worker(
        name,
        lambda: leadership.try_lead() and runner.try_some(),
        poll_s=SCENARIOS_EVERY_S,
        close=leadership.release,
    )


WORKERS: Mapping[str, Callable[[WorkerContext[Settings]], Worker]] = {
    "chain_watcher": chain_watcher,
    "invoice_expiry": invoice_expiry,
    "scenario_runs": scenario_runs,
    "webhooks": webhooks,
}
