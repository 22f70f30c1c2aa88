"""`specd types`: writes the schemas and operations of a document as Python types."""

from collections.abc import Iterator
from pathlib import Path

import click

from specd._cli import scaffold
from specd._cli.deep import run_deep
from specd._cli.documents import FILE, mistakes_shown, read_documents
from specd._cli.names import ServiceName
from specd._cli.scaffold import Described
from specd._cli.typed_operations import first_line, is_current, typed_module
from specd._composition import find_documents
from specd._engine.document.compiler import is_single_module
from specd._engine.openapi.mistakes import Mistake
from specd._engine.openapi.naming import identifier_of
from specd._engine.openapi.union import Document
from specd._project import Service, current


@click.command()
@click.argument("file", required=False, type=FILE)
@click.option("--only", type=ServiceName(), help="Write the types of only this service.")
def types(file: Path | None, only: str | None) -> None:
    """Write the types of services, or print those of FILE.

    A service's schemas become TypedDicts in its module `types`. Type checkers then compare what
    each handler gets and returns with the document.
    """
    if file is not None and only is not None:
        raise click.UsageError("Name FILE or --only, not both.")
    with mistakes_shown():
        run_deep(lambda: _write_types(file, only))


def _write_types(file: Path | None, only: str | None) -> None:
    if file is not None:
        documents = read_documents([file])
        name = identifier_of(file.stem).lower()
        operations = scaffold.describe(documents, f"{name}.handlers")
        click.echo(_text_of(file.name, operations, with_handlers=False), nl=False)
        return
    for service in current().services:
        if only in (None, service.name):
            place, source = file_of_types(service), source_for(service)
            is_new = not place.exists()
            if is_new or place.read_text(encoding="utf-8") != source:
                place.write_text(source, encoding="utf-8")
                click.echo(f"{'wrote' if is_new else 'changed':8} {_shown(service)}")
            else:
                click.echo(f"{_shown(service)} is up to date")


def source_for(service: Service) -> str:
    """Return the source of a service's types. Raise `DocumentError`."""
    documents = list(find_documents(service))
    operations = scaffold.describe(
        documents,
        service.handlers,
        has_modules=not is_single_module(service.handlers),
        snake_case=service.snake_case,
    )
    return source_of(service, documents, operations)


def source_of(service: Service, documents: list[Document], operations: list[Described]) -> str:
    """Return the source of the types of operations that are already described."""
    text = _text_of(service.name, operations, with_handlers=True)
    return first_line(documents, _facts(service), text) + text


def _text_of(name: str, operations: list[Described], *, with_handlers: bool) -> str:
    title = f"The types of {name}: its schemas, and what its handlers get and return"
    typed = [each.typed for each in operations]
    return typed_module(title, typed, with_handlers=with_handlers)


def find_stale(services: tuple[Service, ...]) -> Iterator[Mistake]:
    """Yield a mistake for each service whose types are not those of its current document."""
    for service in services:
        place = file_of_types(service)
        if place.exists():
            source = place.read_text(encoding="utf-8")
            if not is_current(find_documents(service), _facts(service), source):
                yield Mistake(
                    _shown(service),
                    1,
                    1,
                    "",
                    "these types do not match the document: run"
                    f" `specd types --only {service.name}`",
                )


def file_of_types(service: Service) -> Path:
    """Return the file of a service's types."""
    return current().root / _shown(service)


def _shown(service: Service) -> str:
    return f"{service.types.replace('.', '/')}.py"


def _facts(service: Service) -> tuple[object, ...]:
    """Return the facts that the types depend on in addition to the documents."""
    return service.name, service.handlers, service.types, service.snake_case
