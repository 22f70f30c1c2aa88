"""A project: its services, its settings and its own commands.

It imports no other module of specd. A project names modules and their attributes as text, and each
is imported when it is needed, so `specd --help` imports no service.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specd._cors import Cors
    from specd._engine.openapi.union import Document

EVERYTHING = "app"
"""The name of the application of all services. The application of one service has its name."""
ROOT_VARIABLE = "SPECD_PROJECT"
"""The environment variable that names the root of the project."""
_MODULE = "wsgi"
_HAS_PROJECT = re.compile(r"^project\b\s*[:=]", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class BrokenProject(Exception):
    """The module `wsgi` of the project raised an exception, which is the cause of this error."""


class NoProject(ModuleNotFoundError):
    """Neither the working directory nor a folder above it has a module `wsgi` with a `project`."""


def find_object(reference: str) -> Any:
    """Return the object that `module:attribute` names. Raise ImportError or AttributeError."""
    module, _, attribute = reference.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a project.

    By default all parts of the service NAME are in the package NAME: the document in
    `NAME/openapi.yaml` and the handlers in `NAME.handlers`, a module or a package with a module for
    each tag. Other parts are used if they exist: an error table (`NAME.errors:errors`), tables
    (`NAME.models`) and migrations (`NAME/migrations`), which give the service a database, the
    wiring (`NAME.wiring`), workers (`NAME.workers`), pages (`NAME.pages`), commands
    (`NAME.commands`), and the rules by which old rows are deleted (`NAME.retention:retention`).
    `specd types` writes the module `NAME.types`. Each field replaces the default place of a part:
    by a file or folder below the root of the project, a module, or an object as `module:attribute`.

    The first of `documents` has the name of the service; the others are named after their files.
    The `optional` documents are served only if the wiring chooses them. The wiring has a function
    `compose(settings)`, the pages have `install_for(app, service)`, the workers have `WORKERS`, and
    the commands have a click group with the name of the service. `heartbeats` is the model of the
    table in which workers record that they run. `secret` is the `SharedSecret` of all machines.
    `diagnose(settings)` yields the findings of `specd doctor` about this service. `cors` names the
    pages of other origins that can use the service. `csp` changes directives of the content
    security policy of the service's own pages. With `snake_case`, the operationId `GetUser` is the
    function `get_user`. `optional_security` names operations without `security` whose handlers get
    the caller if credentials are sent. It is for documents that cannot be changed.
    """

    name: str
    documents: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    handlers: str = ""
    types: str = ""
    errors: str = ""
    models: str = ""
    migrations: str = ""
    wiring: str = ""
    workers: str = ""
    pages: str = ""
    commands: str = ""
    heartbeats: str = ""
    secret: str = ""
    diagnose: str = ""
    retention: str = ""
    cors: Cors | None = None
    csp: Mapping[str, str] = field(default_factory=dict)
    snake_case: bool = False
    optional_security: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == EVERYTHING:
            raise ValueError(
                f"{self.name!r} cannot be the name of a service: use lower-case letters, digits"
                f" and underscores, and not {EVERYTHING!r}."
            )

    def placed_in(self, root: Path) -> Service:
        """Return the service with default places for the fields that it does not set."""
        name = self.name
        found: dict[str, Any] = {
            "documents": self.documents or (f"{name}/openapi.yaml",),
            "handlers": self.handlers or f"{name}.handlers",
            "types": self.types or f"{name}.types",
            "migrations": self.migrations
            or (f"{name}/migrations" if (root / name / "migrations").is_dir() else ""),
        }
        for part in ("errors", "models", "wiring", "workers", "pages", "commands", "retention"):
            module = f"{name}.{part}" if _has_module(root / name / part) else ""
            if part in ("errors", "retention") and module:
                module += f":{part}"
            found[part] = getattr(self, part) or module
        return replace(self, **found)

    @property
    def files(self) -> dict[str, str]:
        """The name of each document -> its file below the root, in the order of `documents`."""
        first, *others = self.documents
        return {self.name: first, **{Path(other).stem: other for other in others}}

    @property
    def has_database(self) -> bool:
        """Whether the service has tables or migrations."""
        return bool(self.models or self.migrations)


def _has_module(path: Path) -> bool:
    return path.with_suffix(".py").is_file() or any(path.glob("*.py"))


class Project:
    """Services that are developed, installed and served together.

    A service that is given by its name has the default places (see `Service`). `settings` names the
    project's own class of settings, and `secrets` the patterns of secrets that logs redact, both as
    `module:attribute`. `commands` maps each command of the project to its module. `middlewares` are
    ASGI middlewares, the outermost first: functions that take an application, or their names as
    `module:attribute`.
    """

    def __init__(
        self,
        *services: Service | str,
        settings: str = "",
        secrets: str = "",
        commands: Mapping[str, str] | None = None,
        middlewares: Sequence[str | Callable[[Any], Any]] = (),
    ) -> None:
        self._given = tuple(Service(each) if isinstance(each, str) else each for each in services)
        self.names = tuple(each.name for each in self._given)
        self.settings = settings
        self.secrets = secrets
        self.commands = dict(commands or {})
        self.middlewares = tuple(middlewares)
        self._applications: dict[tuple[str, ...], Any] = {}
        if repeated := {name for name in self.names if self.names.count(name) > 1}:
            raise ValueError(f"Two services are named {', '.join(sorted(repeated))}.")

    @cached_property
    def root(self) -> Path:
        """The folder of the module `wsgi`."""
        return find_root()

    @cached_property
    def services(self) -> tuple[Service, ...]:
        """The services, with all places filled in."""
        return tuple(each.placed_in(self.root) for each in self._given)

    @property
    def databases(self) -> tuple[str, ...]:
        """The names of the services that have a database."""
        return tuple(each.name for each in self.services if each.has_database)

    @property
    def documents(self) -> dict[str, str]:
        """The name of each document -> the name of its service."""
        return {document: service.name for service in self.services for document in service.files}

    @property
    def optional(self) -> frozenset[str]:
        """The documents that are served only if a setting asks for them."""
        return frozenset(document for service in self.services for document in service.optional)

    def document_file(self, name: str) -> Path:
        """Return the file of a document. Raise KeyError for an unknown one."""
        return self.root / self[self.documents[name]].files[name]

    def read_document(self, name: str) -> Document:
        """Return a document with everything it refers to, as the engine serves it. All callers
        share one object, so they must not change it. Raise `Mistakes` if it cannot be read.
        """
        read = find_object("specd._engine.document.checking:published")
        document: Document = read(name, self.document_file(name))
        return document

    def migrations(self, service: str) -> Path:
        """Return the folder of a service's migrations, or the default folder if it has none yet.
        Raise KeyError for an unknown service.
        """
        return self.root / (self[service].migrations or f"{service}/migrations")

    def secret_patterns(self) -> tuple[re.Pattern[str], ...]:
        """Return the patterns of secrets that logs redact."""
        return tuple(find_object(self.secrets)) if self.secrets else ()

    def __getitem__(self, name: str) -> Service:
        """Return the service with this name. Raise KeyError for an unknown name."""
        for service in self.services:
            if service.name == name:
                return service
        raise KeyError(name)

    def migrate(self, settings: Any) -> None:
        """Create or upgrade the database of each service, as `specd migrate` does."""
        find_object("specd._cli.migrate:migrate_all")(settings)

    def application(self, name: str) -> Any:
        """Return the ASGI application of all services (`app`) or of one service.

        A module `wsgi` uses this method as its `__getattr__`, so it raises AttributeError for any
        other name. End the process if a service cannot start.
        """
        if name != EVERYTHING and name not in self.names:
            raise AttributeError(name)
        return self.application_of(*(self.names if name == EVERYTHING else (name,)))

    def application_of(self, *names: str) -> Any:
        """Return the ASGI application of some services. It is built once, in the process that
        serves. End the process if a service cannot start.
        """
        if names not in self._applications:
            build = find_object("specd._applications:build_or_exit")
            self._applications[names] = build(self, [self[name] for name in names])
        return self._applications[names]


def find_root() -> Path:
    """Return the root of the project: the folder of the module `wsgi` that has a `project`.

    `SPECD_PROJECT` names it. Otherwise it is the folder of a `wsgi` that is already imported, the
    working directory or the nearest folder above it, or the folder of a `wsgi` on the module search
    path. Raise `NoProject` if there is none.
    """
    if named := os.environ.get(ROOT_VARIABLE, "").strip():
        root = Path(named).absolute()
        if _has_project(root):
            return root
        raise NoProject(
            f"{ROOT_VARIABLE} names {root}, which has no wsgi.py with a `project`.", name=_MODULE
        )
    imported = sys.modules.get(_MODULE)
    if imported is not None and isinstance(getattr(imported, "project", None), Project):
        return Path(str(imported.__file__)).parent
    if above := find_root_above(Path.cwd()):
        return above
    spec = find_spec(_MODULE)
    if spec is not None and spec.origin is not None and _has_project(Path(spec.origin).parent):
        return Path(spec.origin).parent
    raise NoProject(
        "There is no project here: neither this folder nor one above it has a wsgi.py with a"
        " `project`. Begin one with `specd new NAME`.",
        name=_MODULE,
    )


def find_root_above(folder: Path) -> Path | None:
    """Return the nearest root of a project, starting at a folder and going upwards, or None."""
    return next((each for each in _with_parents(folder) if _has_project(each)), None)


def _with_parents(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def _has_project(folder: Path) -> bool:
    try:
        return bool(_HAS_PROJECT.search((folder / f"{_MODULE}.py").read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return False


def current() -> Project:
    """Return the project of `find_root` and add its folder to the module search path. Raise
    `NoProject`, `BrokenProject`, or ModuleNotFoundError for a requirement that is not installed.
    """
    root = str(find_root())
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        project: Project = import_module(_MODULE).project
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise BrokenProject("wsgi.py of the project cannot be imported") from error
    return project


def find_project() -> Project | None:
    """Return the project of `find_root`, or None if there is none."""
    with suppress(NoProject):
        find_root()
        return current()
    return None


def find_services() -> tuple[Service, ...]:
    """Return the services of the project. The result is empty if there is no project."""
    project = find_project()
    return project.services if project else ()
