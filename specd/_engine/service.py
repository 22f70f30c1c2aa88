"""One service: its documents and everything the engine needs to serve them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, Literal, Protocol, TypeVar, get_args

from specd._engine.context import Context, Unit
from specd._engine.error_docs import Failure
from specd._engine.files import FileIntake
from specd._engine.http.browsers import Origins
from specd._engine.idempotency import Idempotency
from specd._engine.openapi.union import Document, unite
from specd._engine.response import Response
from specd._security_events import SecurityEvent

T = TypeVar("T")


class Use(Protocol):
    """The use of a limited resource: `in_use` of `size`. `waiting` is the number of threads or
    tasks that are waiting for it.
    """

    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def in_use(self) -> int: ...
    @property
    def waiting(self) -> int: ...


class DatabaseState(Protocol):
    """The state of a database as a process sees it, without a query. `outages` is the number of
    outages that have begun. `log_unread_s` is the number of seconds since the process last read the
    event log, or None if it does not follow the log.
    """

    @property
    def connections(self) -> Sequence[Use]: ...
    @property
    def is_available(self) -> bool: ...
    @property
    def outages(self) -> int: ...
    @property
    def log_unread_s(self) -> float | None: ...


class Database(Protocol):
    """The source of units of work. `specd._db.database.Database` implements it."""

    @property
    def reads_inline(self) -> bool:
        """Whether reads never wait, so that they can run on the event loop."""
        ...

    @property
    def write_threads(self) -> int: ...

    def reading_unit(self, *, is_snapshot: bool = False) -> AbstractContextManager[Unit]:
        """Return a unit that reads. All statements of a snapshot see the same state."""
        ...

    def run_unit(self, work: Callable[[Unit], T]) -> T:
        """Run `work` in a unit that writes. It is committed when `work` returns, and rolled back if
        it raises.
        """
        ...

    def ping(self) -> None:
        """Raise an exception unless the database responds. This does not wait for requests."""
        ...

    def watch(self) -> None:
        """Watch whether the database responds, in the process that serves, until `dispose`."""
        ...

    def late(self) -> Exception:
        """Return the error for a request that no thread started in time."""
        ...

    def state(self) -> DatabaseState:
        """Return the current state, without a query."""
        ...

    def dispose(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime: ...


class _SystemClock:
    now = staticmethod(partial(datetime.now, UTC))


class RateLimit(Protocol):
    """Counts a request. Raises `RateLimited`, or returns the headers with the remaining
    requests.
    """

    def take(self, ctx: Context) -> tuple[tuple[str, str], ...]: ...


Gauge = tuple[str, str, float, Mapping[str, str]]
"""A number on `/metrics`: its name, description, value and labels."""


Leniency = Literal[
    "foreign_bodies", "form_in_query", "malformed_paths", "method_override", "slashes"
]
"""Deviations from its document that a service can accept."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """The documents of a service and everything that is needed to serve them.

    `documents` are served under one `base_path`, and each is published there: the first as
    `openapi.yaml` and `openapi.json`, the others by their names.

    `stream_timeout_s` is the longest time between two pieces of a response that a handler streams.
    `find_handler(path, method)` returns the handler of an operation. Without it, the handler is a
    function in the package `handlers`, whose name is in snake case if `snake_case`.
    `optional_security` names operations without `security` that accept credentials of all schemes.

    `respond(error, request_id)` returns the response to an error. `refuse_in(operation_id, error)`
    may return another response if the operation is known. `security_events` are the classes of
    errors, including subclasses, that are logged as security events. `strict_queries` rejects
    undocumented query parameters, and repeated ones that have a single value. Without it, handlers
    get the undocumented parameters in `ctx.unknown_parameters`, and the last value counts.
    `refuse(ctx)` returns the error that is raised instead of `Unauthenticated`. With `files`, files
    in forms are `File`s on the disk, otherwise bytes. `origins` are the origins whose pages may
    send changes. `gauges(database, now)` returns the service's own numbers on `/metrics`, and is
    called in a thread at each scrape. They are tuples of a name, a description, a value and labels.
    All numbers with the same name have the same labels. `chores` are small tasks that run in a
    thread: a name -> the seconds between two runs, and a function of the database and the time.
    `list_failures` returns the entries of the page of errors. Without it, the service has no such
    page. `public_url` is the address in published documents. Without it, they contain the address
    that was requested.

    `leniency` names the deviations from its document that the service accepts:

    - `slashes`: several slashes in a row in a path count as one.
    - `malformed_paths`: a path parameter that does not fit its schema gets 404 instead of an error
      for an invalid request.
    - `form_in_query`: the query may contain form fields.
    - `foreign_bodies`: a body of an undocumented media type is read as empty.
    - `method_override`: the form field `method` of a POST names another method.
    """

    name: str
    documents: Sequence[Document]
    handlers: str
    base_path: str
    respond: Callable[[Exception, str], Response]
    refuse_in: Callable[[str, Exception], Response | None] | None = None
    snake_case: bool = False
    optional_security: Collection[str] = ()
    find_handler: Callable[[str, str], Callable[..., Any]] | None = None
    database: Database | None = None
    idempotency: Idempotency | None = None
    settings: Any = None
    adapters: Any = None
    clock: Clock = field(default_factory=_SystemClock)
    require_role: Callable[[Context, str], None] | None = None
    rate_limit: RateLimit | None = None
    chores: Mapping[str, tuple[float, Callable[[Any, datetime], None]]] = field(
        default_factory=dict
    )
    ready: Callable[[], None] | None = None
    body_limit: int = 64 * 1024
    body_timeout_s: float = 15.0
    answer_timeout_s: float = 20.0
    stream_timeout_s: float = 60.0
    validate_responses: bool = False
    strict_queries: bool = False
    leniency: frozenset[Leniency] = frozenset()
    refuse: Callable[[Context], Exception] | None = None
    files: FileIntake | None = None
    origins: Origins = field(default_factory=Origins)
    public_url: str | None = None
    security_events: Mapping[type[Exception], SecurityEvent] = field(default_factory=dict)
    list_failures: Callable[[], Sequence[Failure]] | None = None
    gauges: Callable[[Any, datetime], Sequence[Gauge]] | None = None

    def __post_init__(self) -> None:
        if unknown := self.leniency - {*get_args(Leniency)}:
            raise ValueError(
                f"{self.name}: there is no leniency {', '.join(sorted(unknown))}; there are"
                f" {', '.join(get_args(Leniency))}"
            )

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """All documents united into one. Raise `DocumentError` if they are not compatible."""
        return unite(self.name, self.documents)

    @property
    def addresses(self) -> dict[str, str]:
        """The name of each document -> the path it is published at, without `.yaml` or `.json`."""
        first, *others = (document.name for document in self.documents)
        return {first: f"{self.base_path}/openapi"} | {
            name: f"{self.base_path}/{name}" for name in others
        }
