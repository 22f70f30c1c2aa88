"""`specd mock`: serves documents without handlers."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from specd import _logs as logs
from specd._cli.documents import FILE, mistakes_shown, read_documents
from specd._engine.mocking.service import build_mock
from specd._engine.mocking.sound import build_partial_mock
from specd._engine.openapi.mistakes import in_order, report
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.union import Document
from specd._engine.serving.development import listen, run
from specd._values import parse_bind

BIND = "127.0.0.1:4010"


def _parse_bind(context: click.Context, parameter: click.Parameter, value: str) -> str:
    try:
        return parse_bind(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--bind", default=BIND, show_default=True, callback=_parse_bind, help="Address to listen on."
)
@click.option("--strict", is_flag=True, help="Reject documents with errors.")
def mock(files: tuple[Path, ...], bind: str, strict: bool) -> None:
    """Serve OpenAPI documents without handlers.

    Requests are checked, and responses are the examples of the document. A response without an
    example is generated from its schema. A client chooses another response with
    `Prefer: code=404`, `Prefer: example=NAME` or `Prefer: dynamic=true`. If a document has
    mistakes, the operations without one are served, and the others are named.
    """
    documents: Sequence[Document]
    with mistakes_shown():
        if strict:
            documents = read_documents(files)
            app = build_mock(documents)
        else:
            mocked = build_partial_mock(files)
            app, documents = mocked.app, mocked.documents
            if mocked.mistakes:
                click.echo(report(in_order(mocked.mistakes)), err=True)
            if mocked.left_out:
                click.echo(f"Not served: {', '.join(mocked.left_out)}.", err=True)
    try:
        listener = listen(bind)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {bind} ({error.strerror}).") from None
    logs.configure()
    base_paths = dict.fromkeys(base_path_of(document.content) for document in documents)
    addresses = [f"http://{bind}{base_path}" for base_path in base_paths]
    announcement = f"Mocking {', '.join(addresses)}. Ctrl-C stops it."
    run(app, listener, announce=partial(click.echo, announcement))
