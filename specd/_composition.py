"""Composes a service from its modules, the settings and its wiring."""

import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from pathlib import Path
from typing import Any, cast

from sqlalchemy import inspect

from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.errors import DatabaseUnavailable, Refusal
from specd._db.folders import find_problem
from specd._db.idempotency import (
    IdempotencyInProgress,
    IdempotencyKeyColumns,
    IdempotencyKeyReused,
    IdempotencyKeys,
)
from specd._db.revisions import has_usable_schema
from specd._engine import service as engine
from specd._engine.document.checking import published
from specd._engine.error_docs import Failure
from specd._engine.http.browsers import Origins
from specd._engine.idempotency import Idempotency, is_idempotent
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.union import Document, unite
from specd._error_table import ErrorTable, find_status, import_all
from specd._project import Service, current, find_object
from specd._settings import Settings

ComposedService = engine.Service
"""A service with all its parts, ready to be served."""


class NotWritable(Exception):
    """A folder is not writable."""


def compose(service: Service, settings: Settings, *, has_optional: bool = False) -> engine.Service:
    """Return a service as its wiring composes it, or with the default parts if it has no wiring.
    With `has_optional`, the service also serves all its optional documents.
    """
    more: dict[str, Any] = {}
    if not service.wiring:
        if has_optional:
            more["chosen"] = service.optional
        return service_from_settings(settings, service.name, **more)
    if has_optional and service.optional:
        more["has_optional"] = True
    composed: engine.Service = import_module(service.wiring).compose(settings, **more)
    return composed


def service_from_settings(
    settings: Settings,
    name: str,
    *,
    database: Database | None = None,
    clock: Clock | None = None,
    chosen: Collection[str] = (),
    needs_folders: Collection[Path] = (),
    **own: Any,
) -> engine.Service:
    """Return a service of the project. Of its optional documents, it serves those in `chosen`.

    By default the service is at the path of the document's first server, its error table writes the
    responses to errors, and it has a database if it has tables or migrations. It is ready while its
    database has a usable schema and each of `needs_folders` is writable. `own` replaces the
    defaults of these fields of the service:

    - `base_path`, and `public_url`, the address in published documents.
    - `adapters`: the value of `ctx.adapters`.
    - `rate_limit`: a `RateLimiter`.
    - `idempotency`: an `Idempotency`.
    - `require_role(ctx, role)`: raises a refusal if the caller lacks the role that the document
      names.
    - `body_limit`: the maximum size of a body in bytes, without files; by default 64 KiB.
    - `files`: a `FileIntake`, with which files in forms, and bodies that are a file, become a
      `File` on the disk instead of bytes.
    - `gauges(database, now)`: returns numbers for `/metrics`, tuples of a name, a description, a
      value and a mapping of labels.
    - `chores`: the tasks that a thread repeats. It maps a name to the seconds between two runs and
      a function of the database and the time.
    - `strict_queries`: rejects query parameters that the document does not name.
    - `leniency`: the deviations from its document that the service accepts: `slashes` (several in a
      row count as one), `malformed_paths` (they get 404), `form_in_query`, `foreign_bodies` (read
      as empty), `method_override` (by the form field `method`).
    """
    entry = current()[name]
    documents = [
        document for document in find_documents(entry)
        if document.name in chosen or document.name not in entry.optional
    ]  # fmt: skip
    if database is None and entry.has_database:
        database = Database.for_service(name, settings)
    if "base_path" not in own:
        own["base_path"] = base_path_of(documents[0].content)
    errors = replace(find_errors(entry), prefix=settings.path_prefix)
    if "respond" not in own:
        own["respond"] = errors.fitted_to(unite(name, documents)).respond
        own["list_failures"] = partial(list_failures, entry)
    idempotency: Idempotency | None = own.pop("idempotency", None) or _find_idempotency(entry)
    if idempotency is not None:
        own["idempotency"] = replace(
            idempotency,
            keys=IdempotencyKeys(idempotency.table, owner=idempotency.owner_column),
            is_definitive=errors.is_definitive,
            respond=own["respond"],
            link_of=errors.link_of,
        )
    if "require_role" not in own:
        own["require_role"] = _find_role_check(entry)

    def check_needs() -> None:
        if database is not None and not has_usable_schema(cast(Database, service.database), name):
            raise DatabaseUnavailable()
        for folder in needs_folders:
            if problem := find_problem(folder):
                raise NotWritable(problem)

    service = engine.Service(
        name=name,
        documents=documents,
        handlers=entry.handlers,
        snake_case=entry.snake_case,
        optional_security=_served_names(entry, documents),
        database=database,
        settings=settings,
        clock=clock or Clock(),
        ready=check_needs,
        body_timeout_s=settings.body_read_timeout_s,
        answer_timeout_s=settings.answer_read_timeout_s,
        validate_responses=settings.validate_responses,
        security_events=errors.security_events,
        origins=Origins(settings.public_url, settings.allowed_origins, entry.cors),
        **{"public_url": settings.published_url, **own},
    )
    return service


def find_documents(service: Service) -> Iterator[Document]:
    """Yield all documents of a service, including the optional ones. The first has its name."""
    root = current().root
    return (published(name, root / file) for name, file in service.files.items())


def _served_names(service: Service, served: Collection[Document]) -> tuple[str, ...]:
    """Return the operations of `optional_security`, without those of optional documents that are
    not served.
    """
    others = [
        str(operation["operationId"])
        for document in (find_documents(service) if service.optional_security else ())
        if document not in served
        for item in unite(service.name, [document])["paths"].values()
        for operation in item.values()
    ]
    return tuple(name for name in service.optional_security if name not in others)


def find_errors(service: Service) -> ErrorTable:
    """Return the error table of a service, or the default table if it has none."""
    table: ErrorTable = find_object(service.errors) if service.errors else ErrorTable()
    return replace(table, service=service.name)


def status_finder(service: engine.Service) -> Callable[[type[Exception]], int | None] | None:
    """Return a function that finds the response status of a class of errors, or None if the service
    does not answer all errors by an error table.
    """
    table = getattr(service.respond, "__self__", None)
    if service.refuse_in is not None or not isinstance(table, ErrorTable):
        return None
    return partial(find_status, table)


def list_failures(service: Service) -> tuple[Failure, ...]:
    """Return the errors that callers of a service can get, for its page of errors."""
    packages = dict.fromkeys(filter(None, (service.models, service.handlers)))
    others: list[type[Refusal]] = [DatabaseUnavailable] if service.has_database else []
    if _has_idempotent_handler(service):
        others += (IdempotencyKeyReused, IdempotencyInProgress)
    return find_errors(service).list_failures(tuple(packages), others)


def _has_idempotent_handler(service: Service) -> bool:
    """Return whether any handler of a service accepts an idempotency key. Import its handlers."""
    import_all((service.handlers,))
    return any(
        isfunction(found) and is_idempotent(found)
        for name, module in list(sys.modules.items())
        if f"{name}.".startswith(f"{service.handlers}.")
        for found in vars(module).values()
    )


def _find_idempotency(service: Service) -> Idempotency | None:
    """Return the default store of idempotency keys: the service's table with
    `IdempotencyKeyColumns`. Return None if it has no such table.
    """
    if service.models:
        import_all((service.models,))
    for table in IdempotencyKeyColumns.__subclasses__():
        if f"{table.__module__}.".startswith(f"{service.models}."):
            return Idempotency(table=inspect(table).local_table)
    return None


def _find_role_check(service: Service) -> Callable[..., None] | None:
    """Return `require_role` of the module that checks credentials, if the service has one."""
    module = f"{service.name}.auth"
    try:
        is_there = find_spec(module) is not None
    except ModuleNotFoundError:
        return None
    check: Callable[..., None] | None = None
    if is_there:
        check = getattr(import_module(module), "require_role", None)
    return check
