"""The payment service's workers, by name."""

from collections.abc import Mapping
from functools import partial
from ipaddress import ip_network

from adapters.chain.gateway import RpcChainGateway
from adapters.chain.rpc_reader import RpcChainReader
from adapters.webhooks.sender import WebhookSender
from models.clock import Clock
from models.database import Database
from models.payment import receivers
from models.payment.expiry import try_expire_some
from models.payment.leases import watcher_of
from models.payment.retention import POLICY
from models.payment.webhooks.vault import open_vault
from workers.chain_pace import Pace
from workers.chain_watcher import DEVELOPMENT_CHAINS, ChainWatcher
from workers.context import WorkerContext, WorkerFactory, make_retention
from workers.leadership import Leadership
from workers.loop import Worker
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

LOOK_FOR_CHAINS_EVERY_S = 5.0
EXPIRY_EVERY_S = 2.0
EXPIRED_AT_ONCE = 100


def chain_watcher(context: WorkerContext) -> Worker:
    """Starts a watcher for each chain that a method names and an endpoint serves."""
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


def watch_chain(context: WorkerContext, chain_id: int) -> Worker:
    """Return the watcher of one chain; a lease elects one of several processes."""
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
    )
    watcher = ChainWatcher(
        context.database,
        reader,
        context.clock,
        chain_id=chain_id,
        may_replace=settings.development,
    )
    pace = Pace(
        context.clock,
        watcher.is_awaited,
        poll_s=settings.chain_poll_s,
        idle_s=settings.chain_idle_poll_s,
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
            # Another process may reach an endpoint that this one does not.
            leadership.release()
            raise

    def close() -> None:
        leadership.release()
        reader.close()

    return Worker(name, try_one, poll_s=settings.chain_poll_s, close=close)


def invoice_expiry(context: WorkerContext) -> Worker:
    """Lets invoices expire; any number of processes share the work. What clients see does not wait
    for it, because reads compute expiry from the clock.
    """
    step = partial(expire_invoices, context.database, context.clock)
    return Worker("invoice_expiry", step, poll_s=EXPIRY_EVERY_S)


def expire_invoices(database: Database, clock: Clock, *, limit: int = EXPIRED_AT_ONCE) -> bool:
    """Settle a batch of invoices whose time is over; return whether there were any."""
    now = clock.now()
    return database.run(lambda session: try_expire_some(session, now=now, limit=limit))


def payment_retention(context: WorkerContext) -> Worker:
    """Deletes the payment service's old rows; any number of processes share the work."""
    return make_retention(context, "payment_retention", POLICY)


def webhooks(context: WorkerContext) -> Worker:
    """Posts events to webhook endpoints; any number of processes share the endpoints."""
    settings = context.settings
    sender = WebhookSender([ip_network(network) for network in settings.webhook_networks])
    vault = open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)
    posting = Posting(sender, vault, context.clock)
    worker = WebhookWorker(context.database, context.clock, posting)
    # A step waits for notifications by itself.
    return Worker("webhooks", worker.try_round, poll_s=0.0, close=worker.close)


WORKERS: Mapping[str, WorkerFactory] = {
    "chain_watcher": chain_watcher,
    "invoice_expiry": invoice_expiry,
    "payment_retention": payment_retention,
    "webhooks": webhooks,
}
