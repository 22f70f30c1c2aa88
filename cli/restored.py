"""`specd payment after-restore` and `specd chat after-restore`."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from models.chat.tables import Event, Message, ScheduledMessage
from models.payment.restored import skip_handed_out
from models.row_numbers import reserve
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import table_of

T = TypeVar("T", bound=Callable[..., Any])
ADDRESSES, IDS = 100_000, 1_000_000
PAYMENT = """\
Skipped {addresses} addresses of {wallets} wallets, and {ids} event ids.
Invoices, API keys, webhook endpoints and idempotency keys since the backup are lost. Payments to \
addresses that were assigned since the backup are not detected: check the wallet of each project.
The chain watcher continues from the block of the backup, so it finds payments of the restored \
invoices."""
CHAT = """\
Skipped {ids} ids of messages, scheduled messages and events.
Messages, records of files, accounts and API keys since the backup are lost. Clients show their \
loaded data until they reload."""


def _ids_option(help_text: str) -> Callable[[T], T]:
    return click.option(
        "--ids", type=click.IntRange(1, 100_000_000), default=IDS, show_default=True, help=help_text
    )


@click.command("after-restore")
@click.option(
    "--addresses",
    type=click.IntRange(1, 10_000_000),
    default=ADDRESSES,
    show_default=True,
    help="More addresses than were assigned since the backup.",
)
@_ids_option("More than the number of events since the backup.")
@json_option
def after_restore_of_payment(addresses: int, ids: int, as_json: bool) -> None:
    """Advance the counters after a restore.

    Run it before a server or worker starts. It skips numbers that were used after the backup.
    """
    with open_database("payment", Settings.from_env()) as database:
        wallets = database.run(
            lambda session: skip_handed_out(session, addresses=addresses, events=ids)
        )
    text = PAYMENT.format(addresses=addresses, wallets=wallets, ids=ids)
    answer({"wallets": wallets}, as_json=as_json, text=text)


@click.command("after-restore")
@_ids_option("More than the number of messages or events since the backup.")
@json_option
def after_restore_of_chat(ids: int, as_json: bool) -> None:
    """Advance the counters after a restore.

    Run it before a server or worker starts. It skips numbers that were used after the backup.
    """
    with open_database("chat", Settings.from_env()) as database:
        for numbered in (Message, ScheduledMessage, Event):
            database.run(partial(reserve, table=table_of(numbered), count=ids))
    answer({"skipped": ids}, as_json=as_json, text=CHAT.format(ids=ids))
