"""`specd check`: reports all mistakes of documents and handlers, each with its file and line."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from specd._cli.documents import read_documents
from specd._cli.output import printable
from specd._cli.raised import find_undocumented
from specd._cli.types import find_stale
from specd._composition import compose, status_finder
from specd._engine.document.checking import check_file, locate
from specd._engine.errors import DocumentError
from specd._engine.mocking.service import build_mock
from specd._engine.openapi.mistakes import MOST, Mistake, Mistakes, in_order, report, shortened
from specd._engine.serving.app import build_app, engine_of
from specd._engine.serving.exchange import ServedAPI
from specd._project import current
from specd._settings import settings_for_check

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1, type=FILE)
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "github")),
    default="text",
    help="`text` is file:line:column: place: message, `github` is annotations of GitHub Actions.",
)
@click.pass_context
def check(context: click.Context, files: tuple[Path, ...], form: str) -> None:
    """Check documents and handlers.

    Checks the OpenAPI documents FILE, or without FILE those of the services with their handlers.
    Reports each mistake with its file and line, and exits 1 if there is one.
    """
    documents = files or tuple(map(current().document_file, current().documents))
    found: list[Mistake] = []
    for file in documents:
        found += check_file(file) or (_find_uncompiled(file) if files else ())
    if not files:
        are_readable = not found
        found += _check_handlers()
        if are_readable:
            found += find_stale(current().services)
    mistakes = in_order(found)
    names = [file.name for file in files] or [
        str(file.relative_to(current().root)) for file in documents
    ]
    checked = printable(", ".join(names)) + ("" if files else " and their handlers")
    click.echo(FORMATS[form](mistakes, checked))
    context.exit(1 if mistakes else 0)


def _find_uncompiled(file: Path) -> Sequence[Mistake]:
    """Return the mistakes that prevent the start of a service with a document that breaks no other
    rule.
    """
    try:
        build_mock(read_documents([file]), is_checked=False)
    except Mistakes as error:
        return error.found
    except DocumentError:  # a document without operations
        return ()
    return ()


def _check_handlers() -> Sequence[Mistake]:
    """Return the mistakes that prevent the start of the services, which are composed with default
    settings and all documents. If there are none, return the errors that operations do not
    document.
    """
    with TemporaryDirectory() as folder:
        settings = settings_for_check(Path(folder))
        try:
            services = [compose(it, settings, has_optional=True) for it in current().services]
            engine = engine_of(build_app(services))
        except Mistakes as error:
            return error.found
        apis = () if engine is None else engine.apis
        return [mistake for api in apis for mistake in _find_undocumented(api)]


def _find_undocumented(api: ServedAPI) -> Iterator[Mistake]:
    """Yield the errors that a service raises but does not document."""
    service, status_of = api.service, status_finder(api.service)
    if status_of is None:
        return
    entry = current()[service.name]
    packages = set(filter(None, (service.name, entry.handlers, entry.models)))
    steps = {
        str(operation["operationId"]): ("paths", path, method)
        for path, item in service.document["paths"].items()
        for method, operation in item.items()
    }
    for operation in api.operations:
        at = steps[operation.operation_id]
        faults = find_undocumented(operation, at, packages, status_of)
        yield from locate(service.documents, faults)


def _as_text(mistakes: Sequence[Mistake], checked: str) -> str:
    """Return a line for each mistake, in the format of compilers, and a summary."""
    return "\n".join(filter(None, (report(mistakes), f"Checked {checked}: {_count(mistakes)}.")))


def _as_json(mistakes: Sequence[Mistake], checked: str) -> str:
    return json.dumps({"checked": checked, "mistakes": [asdict(each) for each in mistakes]})


def _as_github(mistakes: Sequence[Mistake], checked: str) -> str:
    """Return workflow commands. GitHub displays each next to the wrong line."""
    lines = [
        f"::error file={_property(each.file)},line={each.line},col={each.column}::"
        + _escaped(shortened(": ".join(filter(None, (each.place, each.message)))))
        for each in mistakes[:MOST]
    ]
    return "\n".join((*lines, f"Checked {checked}: {_count(mistakes)}."))


def _escaped(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _count(mistakes: Sequence[Mistake]) -> str:
    match len(mistakes):
        case 0:
            return "no mistakes"
        case 1:
            return "1 mistake"
    return f"{len(mistakes)} mistakes"


FORMATS: dict[str, Callable[[Sequence[Mistake], str], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_github,
}
