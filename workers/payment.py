"""The payment service's workers, by name."""

from collections.abc import Mapping
from ipaddress import ip_network

from adapters.chain.gateway import RpcChainGateway
from adapters.chain.rpc_reader import RpcChainReader
from adapters.webhooks.sender import WebhookSender
from models.payment import receivers
from models.payment.retention import POLICY
from models.payment.webhooks.vault import open_vault
from workers.chain_pace import Pace
from workers.chain_watcher import DEVELOPMENT_CHAINS, ChainWatcher
from workers.context import WorkerContext, WorkerFactory, make_retention
from workers.invoice_expiry import InvoiceExpiry
from workers.leadership import Leadership
from workers.loop import Worker
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

LOOK_FOR_CHAINS_EVERY_S = 5.0
EXPIRY_EVERY_S = 2.0


def chain_watcher(context: WorkerContext) -> Worker:
    """Starts a watcher for each chain that a method names and an endpoint serves, as found."""
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
    """The watcher of one chain; of several processes one leads, and a lease says which."""
    settings = context.settings
    name = f"chain_watcher:{chain_id}"
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
    """Lets invoices expire; any number of processes share the work."""
    expiry = InvoiceExpiry(context.database, context.clock)
    return Worker("invoice_expiry", expiry.try_expire_one, poll_s=EXPIRY_EVERY_S)


def payment_retention(context: WorkerContext) -> Worker:
    """Forgets the payment service's old rows; any number of processes share the work."""
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
