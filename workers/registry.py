"""The workers there are, by name, and how one process runs some of them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

import logs
from adapters.chain.gateway import RpcChainGateway
from adapters.chain.rpc_reader import RpcChainReader
from adapters.mail.wiring import build_mailer
from models.chat.ground.vault import Vault
from models.chat.identity.api_keys import load_secrets
from models.chat.retention import POLICY as chat_policy
from models.clock import Clock, SystemClock
from models.database import Database
from models.payment import watching
from models.payment.retention import POLICY as payment_policy
from models.retention import Policy
from models.secret_shapes import SHAPES
from settings import Settings
from workers import retention
from workers.chain_watcher import ChainWatcher
from workers.exports import NICENESS, Exports
from workers.invoice_expiry import InvoiceExpiry
from workers.leadership import Leadership
from workers.loop import Crew, Tidy, Worker
from workers.message_removal import MessageRemovals
from workers.outbox import OutboxWorker
from workers.retention import Retention
from workers.scheduled_delivery import ScheduledDelivery
from workers.search_index import SearchIndex

LOOK_FOR_CHAINS_EVERY_S = 5.0
EXPIRY_EVERY_S = 2.0
DELIVERY_EVERY_S = 0.25
MAIL_EVERY_S = 0.5
EXPORTS_EVERY_S = 1.0
RETENTION_EVERY_S = 5.0
SEARCH_EVERY_S = 0.5
REMOVAL_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Bench:
    """What the workers of one process share."""

    settings: Settings
    database: Database
    chat_database: Database
    clock: Clock
    crew: Crew


class UnknownWorker(ValueError):
    """No worker has this name."""


def chain_watcher(bench: Bench) -> Worker:
    """Starts a watcher for each chain that a method names and an endpoint serves, as found."""
    gateway = RpcChainGateway(
        bench.settings.chain_rpc_urls, timeout_s=bench.settings.chain_rpc_timeout_s
    )
    watched: set[int] = set()

    def try_start_one() -> bool:
        with bench.database.reading() as reader:
            chains = watching.find_chains(reader)
        for chain_id in chains:
            if chain_id not in watched and gateway.is_configured(chain_id):
                watched.add(chain_id)
                bench.crew.start(watch_chain(bench, chain_id))
                return True
        return False

    return Worker("chain_watcher", try_start_one, poll_s=LOOK_FOR_CHAINS_EVERY_S)


def watch_chain(bench: Bench, chain_id: int) -> Worker:
    """The watcher of one chain; of several processes one leads, and a lease says which."""
    settings = bench.settings
    name = f"chain_watcher:{chain_id}"
    leadership = Leadership(bench.database, bench.clock, name=name)
    reader = RpcChainReader(
        settings.chain_rpc_urls,
        chain_id,
        settings.chain_rpc_timeout_s,
        lambda: watcher.least_head,
    )
    watcher = ChainWatcher(
        bench.database,
        reader,
        bench.clock,
        chain_id=chain_id,
        log_range=settings.chain_log_range,
    )

    def try_one() -> bool:
        if not leadership.try_lead():
            return False
        try:
            return watcher.try_watch_one()
        except Exception:
            # Another process may reach an endpoint that this one does not.
            leadership.give_up()
            raise

    def close() -> None:
        leadership.give_up()
        reader.close()

    return Worker(name, try_one, poll_s=settings.chain_poll_s, close=close)


def invoice_expiry(bench: Bench) -> Worker:
    """Lets invoices expire; any number of processes share the work."""
    expiry = InvoiceExpiry(bench.database, bench.clock)
    return Worker("invoice_expiry", expiry.try_expire_one, poll_s=EXPIRY_EVERY_S)


def payment_retention(bench: Bench) -> Worker:
    """Forgets the payment service's old rows; any number of processes share the work."""
    return _retention(bench, "payment_retention", bench.database, payment_policy)


def chat_retention(bench: Bench) -> Worker:
    """Forgets the chat service's old rows; any number of processes share the work."""
    return _retention(bench, "chat_retention", bench.chat_database, chat_policy)


def _retention(bench: Bench, name: str, database: Database, policy: Policy) -> Worker:
    stopping = bench.crew.stopping
    worker = Retention(database, bench.clock, policy, bench.settings, rest=stopping.wait)
    tidy = Tidy(bench.clock, retention.EVERY, worker.try_forget_some)
    return Worker(name, tidy.try_one, poll_s=RETENTION_EVERY_S, niceness=NICENESS)


def scheduled_delivery(bench: Bench) -> Worker:
    """Sends scheduled messages at their time; any number of processes share the work."""
    worker = ScheduledDelivery(
        bench.chat_database,
        bench.clock,
        late_window=timedelta(seconds=bench.settings.scheduled_late_window_s),
    )
    return Worker("scheduled_delivery", worker.try_deliver_one, poll_s=DELIVERY_EVERY_S)


def search_index(bench: Bench) -> Worker:
    """Has search know what moved or went; any number of processes share the work."""
    worker = SearchIndex(bench.chat_database, rest=bench.crew.stopping.wait)
    return Worker("search_index", worker.try_refresh_some, poll_s=SEARCH_EVERY_S, niceness=NICENESS)


def message_removal(bench: Bench) -> Worker:
    """Deletes what a request began to delete; any number of processes share the work."""
    worker = MessageRemovals(bench.chat_database, bench.clock, rest=bench.crew.stopping.wait)
    return Worker(
        "message_removal", worker.try_remove_some, poll_s=REMOVAL_EVERY_S, niceness=NICENESS
    )


def outbox(bench: Bench) -> Worker:
    """Lets mail leave; any number of processes share the work."""
    settings = bench.settings
    worker = OutboxWorker(
        bench.chat_database,
        bench.clock,
        build_mailer(settings.mail_url, timeout_s=settings.mail_timeout_s),
        Vault(
            *load_secrets(settings.data_dir, settings.chat_secret, settings.chat_secret_previous)
        ),
        sender=settings.mail_from,
    )
    return Worker("outbox", worker.try_send_one, poll_s=MAIL_EVERY_S)


def exports(bench: Bench) -> Worker:
    """Makes archives of organizations' data; any number of processes share the work."""
    settings = bench.settings
    worker = Exports(
        bench.chat_database,
        bench.clock,
        settings.chat_export_dir,
        public_url=settings.public_url,
        retention=timedelta(seconds=settings.chat_export_retention_s),
        stopping=bench.crew.stopping,
    )
    return Worker("exports", worker.try_work_one, poll_s=EXPORTS_EVERY_S, niceness=NICENESS)


SERVICES: Mapping[str, Mapping[str, Callable[[Bench], Worker]]] = {
    "payment": {
        "chain_watcher": chain_watcher,
        "invoice_expiry": invoice_expiry,
        "payment_retention": payment_retention,
    },
    "chat": {
        "chat_retention": chat_retention,
        "exports": exports,
        "message_removal": message_removal,
        "outbox": outbox,
        "scheduled_delivery": scheduled_delivery,
        "search_index": search_index,
    },
}
"""Service -> its workers, which need that service's database and no other."""

WORKERS: Mapping[str, Callable[[Bench], Worker]] = dict(
    sorted((name, make) for theirs in SERVICES.values() for name, make in theirs.items())
)
NAMES = tuple(WORKERS)


def run(names: Sequence[str], settings: Settings) -> None:
    """Run the named workers (none named: all) until SIGTERM or SIGINT. Main thread only.

    Raises UnknownWorker before anything starts; SystemExit(1) when a worker died of a bug.
    """
    for name in names:
        if name not in WORKERS:
            raise UnknownWorker(f"There is no worker named {name}; there are {', '.join(NAMES)}.")
    logs.configure(settings.log_level, secrets=SHAPES)
    payment, chat = (
        Database(url, lock_timeout_s=settings.lock_timeout_s, pool_size=settings.database_pool_size)
        for url in (settings.payment_database_url, settings.chat_database_url)
    )
    crew = Crew()
    bench = Bench(settings, payment, chat, SystemClock(), crew)
    with closing(payment), closing(chat):
        crew.run_until_signal([WORKERS[name](bench) for name in dict.fromkeys(names or NAMES)])
    if crew.failed:
        raise SystemExit(1)
