"""`specd payment export`: exports the invoices or payments of a project as JSON lines or CSV."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from models.payment import bookkeeping
from models.payment.invoice_list import InvoiceFilter, list_invoices
from models.payment.invoice_view import InvoiceView
from models.payment.projects import access_project
from models.payment.receipts import ReceiptFilter, list_receipts
from models.payment.rendering import render_receipt, render_with_notes
from settings import Settings
from specd.commands import open_database
from specd.db import Clock, Database, UtcMs

_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


@click.command()
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--payments", "of_payments", is_flag=True, help="Print payments instead of invoices.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="JSON lines with invoices in the API's format, or CSV.",
)
@click.option(
    "--from",
    "since",
    type=_TIME,
    help="Only invoices created, or payments received, at this time or later.",
)
@click.option(
    "--to",
    "before",
    type=_TIME,
    help="Only invoices created, or payments received, before this time.",
)
def export(
    project_id: str, of_payments: bool, form: str, since: datetime | None, before: datetime | None
) -> None:
    """Print the invoices or the payments of a project.

    The newest is first. Times are UTC.
    """
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: access_project(session, project_id).id)
        if of_payments:
            _print_payments(database, ReceiptFilter(project_id, _ms(since), _ms(before)), form)
            return
        wanted = InvoiceFilter(project_id, created_from=_ms(since), created_to=_ms(before))
        if form == "csv":
            click.echo(bookkeeping.header(), nl=False)
        for view in _invoices(database, wanted):
            if form == "csv":
                click.echo(bookkeeping.line_of(view), nl=False)
            else:
                click.echo(json.dumps(render_with_notes(view)))


def _print_payments(database: Database, wanted: ReceiptFilter, form: str) -> None:
    if form == "csv":
        click.echo(bookkeeping.payments_header(), nl=False)
    place = None
    while True:
        with database.reading() as reader:
            page = list_receipts(reader, wanted, after=place, limit=bookkeeping.AT_ONCE)
        for receipt in page:
            if form == "csv":
                click.echo(bookkeeping.payment_line_of(receipt), nl=False)
            else:
                click.echo(json.dumps(render_receipt(receipt)))
        if len(page) < bookkeeping.AT_ONCE:
            return
        place = page[-1].position


def _invoices(database: Database, wanted: InvoiceFilter) -> Iterator[InvoiceView]:
    """Yield the invoices, read page by page to limit memory use and the duration of a query."""
    now, cursor = Clock().now(), None
    while True:
        with database.reading() as reader:
            page = list_invoices(reader, wanted, cursor=cursor, limit=bookkeeping.AT_ONCE, now=now)
        yield from page.invoices
        cursor = page.next_cursor
        if cursor is None:
            return


def _ms(at: datetime | None) -> int | None:
    return None if at is None else UtcMs.to_ms(at.replace(tzinfo=UTC))
