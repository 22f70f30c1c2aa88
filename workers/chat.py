"""The chat service's workers, by name."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from ipaddress import ip_network

from adapters.file_store.wiring import ARRIVING, build_file_store
from adapters.mail.wiring import build_mailer
from adapters.webhooks.sender import ANSWER_READ, WebhookSender
from models.chat.common.vault import Vault
from models.chat.identity.api_keys import load_secrets
from settings import Settings
from specd.workers import Worker, WorkerContext
from workers.backlog import message_removals, stale_search
from workers.bot_webhooks import BotWebhooks, Posting
from workers.exports import Exports
from workers.outbox import OutboxWorker
from workers.scheduled_delivery import ScheduledDelivery
from workers.uploads import Uploads

NICENESS = 10
"""The niceness of workers whose tasks are less urgent than requests."""
DELIVERY_EVERY_S = 0.25
MAIL_EVERY_S = 0.5
EXPORTS_EVERY_S = 1.0
LONGEST_EXPORT_S = 12 * 3600.0
"""The time limit of a step, which writes a complete archive."""
UPLOADS_EVERY_S = 1.0
SEARCH_EVERY_S = 0.5
REMOVAL_EVERY_S = 0.5


def scheduled_delivery(context: WorkerContext[Settings]) -> Worker:
    """Sends scheduled messages at their time; any number of processes share the work."""
    worker = ScheduledDelivery(
        context.database,
        context.clock,
        late_window=timedelta(seconds=context.settings.scheduled_late_window_s),
    )
    return Worker("scheduled_delivery", worker.try_deliver_one, poll_s=DELIVERY_EVERY_S)


def search_index(context: WorkerContext[Settings]) -> Worker:
    """Refreshes the search rows of changed messages; any number of processes share the work."""
    worker = stale_search(context.database, rest=context.pool.stopping.wait)
    return Worker("search_index", worker.try_some, poll_s=SEARCH_EVERY_S, niceness=NICENESS)


def message_removal(context: WorkerContext[Settings]) -> Worker:
    """Finishes deletions that requests began; any number of processes share the work."""
    worker = message_removals(context.database, context.clock, rest=context.pool.stopping.wait)
    return Worker("message_removal", worker.try_some, poll_s=REMOVAL_EVERY_S, niceness=NICENESS)


def bot_webhooks(context: WorkerContext[Settings]) -> Worker:
    """Posts messages to outgoing webhook bots; any number of processes share the work."""
    settings = context.settings
    opened = [ip_network(network) for network in settings.webhook_networks]
    posting = Posting(WebhookSender(opened, answer_kept=ANSWER_READ), context.clock)
    worker = BotWebhooks(context.database, context.clock, _open_vault(settings), posting)
    # The step itself waits for work.
    return Worker(
        "bot_webhooks",
        worker.try_step,
        poll_s=0.0,
        close=worker.close,
        silent_s=posting.silent_s,
    )


def _open_vault(settings: Settings) -> Vault:
    return Vault(
        *load_secrets(settings.data_dir, settings.chat_secret, settings.chat_secret_previous)
    )


def outbox(context: WorkerContext[Settings]) -> Worker:
    """Sends mail; any number of processes share the work."""
    settings = context.settings
    worker = OutboxWorker(
        context.database,
        context.clock,
        build_mailer(settings.mail_url, timeout_s=settings.mail_timeout_s),
        _open_vault(settings),
        sender=settings.mail_from,
    )
    return Worker("outbox", worker.try_send_one, poll_s=MAIL_EVERY_S)


def exports(context: WorkerContext[Settings]) -> Worker:
    """Writes archives of organizations' data; any number of processes share the work."""
    settings = context.settings
    worker = Exports(
        context.database,
        context.clock,
        settings.chat_export_dir,
        build_file_store(settings),
        public_url=settings.public_url,
        retention=timedelta(seconds=settings.chat_export_retention_s),
        stopping=context.pool.stopping,
    )
    return Worker(
        "exports",
        worker.try_work_one,
        poll_s=EXPORTS_EVERY_S,
        niceness=NICENESS,
        longest_s=LONGEST_EXPORT_S,
    )


def uploads(context: WorkerContext[Settings]) -> Worker:
    """Deletes unused files; any number of processes share the work."""
    settings = context.settings
    worker = Uploads(
        context.database,
        context.clock,
        build_file_store(settings),
        settings.chat_upload_dir / ARRIVING,
        retention=timedelta(seconds=settings.chat_detached_upload_retention_s),
        rest=context.pool.stopping.wait,
    )
    return Worker("uploads", worker.try_work_one, poll_s=UPLOADS_EVERY_S, niceness=NICENESS)


WORKERS: Mapping[str, Callable[[WorkerContext[Settings]], Worker]] = {
    "bot_webhooks": bot_webhooks,
    "exports": exports,
    "message_removal": message_removal,
    "outbox": outbox,
    "scheduled_delivery": scheduled_delivery,
    "search_index": search_index,
    "uploads": uploads,
}
