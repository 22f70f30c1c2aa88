"""A project: its services, its settings, and the commands of its own.

A leaf that imports nothing of the product. A project names modules and their attributes as text,
and each is imported when it is needed, so `specd --help` imports no service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specd._engine.http.cors import Cors

EVERYTHING = "app"
"""The application of all services. Each service has another, which has its name."""


def find_object(reference: str) -> Any:
    """Return what `module:attribute` names. Raise ImportError or AttributeError."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a project.

    By convention the service NAME has its document in `specs/NAME.yaml`, its handlers below
    `handlers/NAME`, a function `compose(settings)` in `handlers/NAME/wiring.py`, its tables in
    `models/NAME`, its migrations in `models/migrations/NAME`, and its database in
    `SPECD_NAME_DATABASE_URL`.

    `further` names documents that are served beside the first one, `optional` those of them that
    the wiring leaves out unless a setting asks for them. `pages`, `workers` and `commands` name
    modules: of pages for people (`install_for(app, service)`), of background jobs (`WORKERS`), and
    of commands of `specd` (a click group with the name of the service).

    The others name objects as `module:attribute`. `heartbeats` is the model of the table in which
    workers show that they run, `secret` the `specd._db.secret_checks.SharedSecret` of all machines.
    `diagnose(settings)` yields the findings of `specd doctor` about this service. `cors` names the
    pages of other origins that can use the service.
    """

    name: str
    further: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    pages: str = ""
    workers: str = ""
    commands: str = ""
    heartbeats: str = ""
    secret: str = ""
    diagnose: str = ""
    cors: Cors | None = None

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of all its documents, the first one first."""
        return (self.name, *self.further)

    @property
    def wiring(self) -> str:
        """The module whose `compose(settings)` puts the service together."""
        return f"handlers.{self.name}.wiring"

    @property
    def handlers(self) -> str:
        """The package of the handlers."""
        return f"handlers.{self.name}"


@dataclass(frozen=True, slots=True)
class Project:
    """The services that are developed, installed and served together.

    `settings` names the class of its settings if it has
    some of its own, and `secrets` the shapes of secrets that logs redact, both as
    `module:attribute`. `commands` maps each command of the project's own to its module.
    `middlewares` are ASGI middlewares, the outermost first: functions of an application, or their
    names as `module:attribute`.
    """

    services: tuple[Service, ...]
    settings: str = ""
    secrets: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)
    middlewares: Sequence[str | Callable[[Any], Any]] = ()
    _applications: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def root(self) -> Path:
        """The folder of the module `wsgi`."""
        return find_root()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the services."""
        return tuple(service.name for service in self.services)

    @property
    def documents(self) -> dict[str, str]:
        """The name of each document -> the name of its service."""
        return {
            document: service.name for service in self.services for document in service.documents
        }

    @property
    def optional(self) -> frozenset[str]:
        """The documents that are served only if a setting asks for them."""
        return frozenset(document for service in self.services for document in service.optional)

    def document_file(self, name: str) -> Path:
        """Return the file of a document."""
        return self.root / "specs" / f"{name}.yaml"

    def migrations(self, service: str) -> Path:
        """Return the folder of a service's migrations. Raise KeyError for an unknown service."""
        return self.root / "models/migrations" / self[service].name

    def __getitem__(self, name: str) -> Service:
        """Return the service of this name. Raise KeyError."""
        for service in self.services:
            if service.name == name:
                return service
        raise KeyError(name)

    def migrate(self, settings: Any) -> None:
        """Create or upgrade the database of each service, as `specd migrate` does."""
        find_object("specd._cli.migrate:migrate_all")(settings)

    def application(self, name: str) -> Any:
        """Return the ASGI application `app`, of all services, or that of one service.

        Built once, in the process that serves. A module `wsgi` has it as its `__getattr__`, so
        raise AttributeError for any other name. A service that cannot start ends the process.
        """
        if name != EVERYTHING and name not in self.names:
            raise AttributeError(name)
        if name not in self._applications:
            services = self.services if name == EVERYTHING else (self[name],)
            build = find_object("specd._applications:build_or_exit")
            self._applications[name] = build(self, services)
        return self._applications[name]


def find_root() -> Path:
    """Return the folder of the module `wsgi`, without an import. Raise ModuleNotFoundError."""
    spec = find_spec("wsgi")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("There is no module wsgi here.", name="wsgi")
    return Path(spec.origin).parent


def current() -> Project:
    """Return the project whose module `wsgi` can be imported."""
    project: Project = import_module("wsgi").project
    return project
