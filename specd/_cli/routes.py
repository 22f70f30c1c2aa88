"""`specd routes`: lists the operations and their functions."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from specd._cli.documents import FILE, mistakes_shown, read_documents
from specd._cli.output import answer
from specd._composition import find_documents
from specd._engine.document.compiler import is_single_module
from specd._engine.openapi.naming import handlers_of, identifier_of, operation_id_of
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.union import Document, unite
from specd._project import current

COLUMNS = ("service", "method", "path", "operationId", "handler", "security")


@dataclass(frozen=True, slots=True)
class Route:
    """An operation and its handler. `derived` says that the document has no operationId for it."""

    service: str
    method: str
    path: str
    operation_id: str
    derived: bool
    handler: str
    security: str

    @property
    def row(self) -> tuple[str, ...]:
        mark = " *" if self.derived else ""
        name = self.operation_id + mark
        return self.service, self.method, self.path, name, self.handler, self.security


@click.command()
@click.argument("files", metavar="[FILE...]", nargs=-1, type=FILE)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table")
def routes(files: tuple[Path, ...], format_: str) -> None:
    """List operations with their functions.

    Lists the operations of all services, or of FILEs. An operationId with an asterisk is derived
    from method and path.
    """
    with mistakes_shown():
        if files:
            names = [(identifier_of(d.name).lower(), d) for d in read_documents(files)]
            named = [(name, f"{name}.handlers", [d], False) for name, d in names]
        else:
            named = [
                (each.name, each.handlers, list(find_documents(each)), each.snake_case)
                for each in current().services
            ]
        found = [route for place in named for route in find_routes(*place)]
    if format_ == "json":
        click.echo(json.dumps([asdict(route) for route in found], indent=2))
    else:
        rows = [route.row for route in found]
        answer({}, as_json=False, columns=COLUMNS, rows=rows)


def find_routes(
    service: str, handlers: str, documents: list[Document], snake_case: bool
) -> Iterator[Route]:
    """Yield the routes of a service in the order of its documents. Raise `DocumentError`."""
    content = unite(service, documents)
    given = {
        operation["operationId"]
        for document in documents
        for item in document.content.get("paths", {}).values()
        if isinstance(item, Mapping)
        for operation in (*item.values(), *(item.get("additionalOperations") or {}).values())
        if isinstance(operation, Mapping) and "operationId" in operation
    }
    base_path = base_path_of(content)
    names = handlers_of(
        handlers,
        ((path, *each) for path, item in content["paths"].items() for each in item.items()),
        has_modules=not is_single_module(handlers),
        snake_case=snake_case,
    )
    for path, item in content["paths"].items():
        for method, operation in item.items():
            operation_id = str(operation["operationId"])
            yield Route(
                service,
                method.upper(),
                base_path + path,
                operation_id,
                operation_id not in given
                and operation_id.startswith(operation_id_of(path, method, {})),
                str(names[path, method]),
                _security(operation.get("security", content.get("security", []))),
            )


def _security(requirements: list[Mapping[str, Any]]) -> str:
    """Return alternatives joined by ` or `, and schemes that are required together joined by ` and
    `.
    """
    ways = [
        " and ".join(f"{n} [{' '.join(scopes)}]" if scopes else n for n, scopes in way.items())
        for way in requirements
    ]
    return " or ".join(way or "nothing" for way in ways) or "-"
