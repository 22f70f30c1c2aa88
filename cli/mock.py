"""`specd mock`: serves documents without handlers."""

from functools import partial
from pathlib import Path

import click

import logs
from cli.documents import FILE, mistakes_shown, read_documents
from server.mocking.service import base_path_of, build_mock
from server.serving.development import listen, run
from setting_values import parse_bind

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
def mock(files: tuple[Path, ...], bind: str) -> None:
    """Serve OpenAPI documents without handlers: requests are checked, answers are the examples.

    An answer without an example is made from its schema. A client chooses another answer by
    `Prefer: code=404`, `Prefer: example=NAME` or `Prefer: dynamic=true`.
    """
    with mistakes_shown():
        documents = read_documents(files)
        app = build_mock(documents)
    try:
        listener = listen(bind)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on {bind} ({error.strerror}).") from None
    logs.configure()
    addresses = [f"http://{bind}{base_path_of(document.content)}" for document in documents]
    announcement = f"Mocking {', '.join(addresses)}. Ctrl-C stops it."
    run(app, listener, announce=partial(click.echo, announcement))
