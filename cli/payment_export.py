"""`specd payment export`: a project's invoices for other programs and for book-keepers."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from cli.databases import open_database
from models.clock import SystemClock
from models.database import Database
from models.payment import bookkeeping
from models.payment.invoice_list import InvoiceFilter, list_invoices
from models.payment.invoice_view import InvoiceView
from models.payment.projects import access_project
from models.payment.rendering import render_invoice
from models.types import to_ms
from settings import Settings

_TIME = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])


@click.command()
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="JSON lines with invoices as the API shows them, or a line of CSV for each.",
)
@click.option("--from", "since", type=_TIME, help="Only invoices created at this time or later.")
@click.option("--to", "before", type=_TIME, help="Only invoices created before this time.")
def export(project_id: str, form: str, since: datetime | None, before: datetime | None) -> None:
    """Print the invoices of a project, the newest first. Times are UTC."""
    wanted = InvoiceFilter(project_id, created_from=_ms(since), created_to=_ms(before))
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: access_project(session, project_id).id)
        if form == "csv":
            click.echo(bookkeeping.header(), nl=False)
        for view in _invoices(database, wanted):
            if form == "csv":
                click.echo(bookkeeping.line_of(view), nl=False)
            else:
                click.echo(json.dumps(render_invoice(view)))


def _invoices(database: Database, wanted: InvoiceFilter) -> Iterator[InvoiceView]:
    """Yield the invoices page by page, so that neither memory nor a read grows with them."""
    now, cursor = SystemClock().now(), None
    while True:
        with database.reading() as reader:
            page = list_invoices(reader, wanted, cursor=cursor, limit=bookkeeping.AT_ONCE, now=now)
        yield from page.invoices
        cursor = page.next_cursor
        if cursor is None:
            return


def _ms(at: datetime | None) -> int | None:
    return None if at is None else to_ms(at.replace(tzinfo=UTC))
