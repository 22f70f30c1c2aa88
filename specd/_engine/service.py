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
    """How much of a limited resource is in use: `size` at most. `waiting` is the number of those
    who wait for one.
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
    """What a process knows of its database without asking it. `outages`: how many have begun.
    `log_unread_s`: for how many seconds it has not looked at the event log, None where nobody waits
    for events.
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
    """Where units of work come from; `specd._db.database.Database` is the one we use."""

    @property
    def reads_inline(self) -> bool:
        """True when a read never waits, so that it may run on the event loop."""
        ...

    @property
    def write_threads(self) -> int: ...

    def reading_unit(self, *, is_snapshot: bool = False) -> AbstractContextManager[Unit]:
        """Return a unit that reads. All statements of a snapshot see the same moment."""
        ...

    def run_unit(self, work: Callable[[Unit], T]) -> T:
        """Run `work` in a unit that writes: returning commits, raising rolls back."""
        ...

    def ping(self) -> None:
        """Raise unless the database answers; waits for no request."""
        ...

    def watch(self) -> None:
        """Watch whether the database answers, in the process that serves, until `dispose`."""
        ...

    def late(self) -> Exception:
        """Return the error for a request that no thread has started in time."""
        ...

    def state(self) -> DatabaseState:
        """Return the present state; waits for nothing."""
        ...

    def dispose(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime: ...


class _SystemClock:
    now = staticmethod(partial(datetime.now, UTC))


class RateLimit(Protocol):
    """Counts a request; raises `RateLimited`; returns the headers with what is left."""

    def take(self, ctx: Context) -> tuple[tuple[str, str], ...]: ...


Gauge = tuple[str, str, float, Mapping[str, str]]
"""A number on `/metrics`: its name, its description, its value, its labels."""


Leniency = Literal[
    "foreign_bodies", "form_in_query", "malformed_paths", "method_override", "slashes"
]
"""Requests that a service accepts although they differ from its document."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """The documents of a service and all that serves them.

    `documents` are served under one `base_path`, and each is published there: the first one as
    `openapi.yaml` and `openapi.json`, the others by their names.

    `stream_timeout_s` is the longest time between two pieces of an answer that a handler streams.
    `find_handler(path, method)` returns the handler of an operation; without it, the handler is a
    function in the package `handlers`, with `snake_case` in snake case whatever its operationId.
    `optional_security` are operations without `security` that take credentials of all schemes.

    `respond(error, request_id)` is the service's one error table. `refuse_in(operation_id, error)`
    may return another answer where the operation is known. `security_events` are the errors, with
    those derived from them, that are logged as security events. `strict_queries` refuses
    undocumented parameters of a query and repeated ones that take one value; without it, handlers
    get the undocumented ones in `ctx.unknown_parameters`, and the last value counts. `refuse(ctx)`
    is raised instead of `Unauthenticated` for credentials that are missing or that their scheme
    cannot read. `files` makes the files of forms `File`s on the disk; without it they are bytes.
    `origins` are those whose pages may change things. `gauges(database, now)` are numbers of the
    service's own on `/metrics`, read in a thread at each scrape: tuples of a name, a description, a
    value and labels. All of one name have the same labels. `chores` are small tasks that run in a
    thread: a name -> the seconds between two runs, and a function of the database and the time.
    `list_failures` are the entries of the page of errors; without it the service has no such page.
    `public_url` is the address that published documents name; without it, the one that was asked.

    `leniency` names what the service accepts beyond its document:

    - `slashes`: several slashes of a path in a row are one.
    - `malformed_paths`: a path parameter that does not fit its schema means that there is no such
      path, instead of an invalid request.
    - `form_in_query`: the query may have form fields.
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
        """All documents as one. Raise `DocumentError` where they do not go together."""
        return unite(self.name, self.documents)

    @property
    def addresses(self) -> dict[str, str]:
        """The name of each document -> the path it is published at, without `.yaml` or `.json`."""
        first, *others = (document.name for document in self.documents)
        return {first: f"{self.base_path}/openapi"} | {
            name: f"{self.base_path}/{name}" for name in others
        }
