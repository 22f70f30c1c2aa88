"""What the engine needs to know to serve one document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from security_events import SecurityEvent
from server.context import Context
from server.error_docs import Failure
from server.response import Response
from server.wire.browsers import Origins

T = TypeVar("T")


class Database(Protocol):
    """Where units of work come from; `models.database.Database` is the one we use."""

    @property
    def reads_inline(self) -> bool:
        """True when a read never waits, so that it may run on the event loop."""
        ...

    @property
    def write_threads(self) -> int: ...

    def reading(self) -> AbstractContextManager[Any]: ...

    def snapshot(self) -> AbstractContextManager[Any]:
        """A reading whose statements all see the same moment."""
        ...

    def run(self, work: Callable[[Any], T]) -> T: ...

    def ping(self) -> None: ...

    def dispose(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime: ...


class _SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class RateLimit(Protocol):
    """Counts a request; raises `RateLimited`; returns the headers that tell what is left."""

    def take(self, ctx: Context) -> tuple[tuple[str, str], ...]: ...


@dataclass(frozen=True, slots=True)
class Chore:
    """Something small to do every `every_s` seconds, in a thread, while the application lives."""

    name: str
    every_s: float
    run: Callable[[Any, datetime], None]


@dataclass(frozen=True, kw_only=True)
class Service:
    """One document and all that serves it.

    `respond(error, request_id)` is the service's one error table; `security_events` says which
    errors the log tells of by name, those of derived classes too. `malformed_path` says whether a
    path parameter that does not fit its schema is an invalid request or an unknown path.
    `form_in_query` lets form fields come in the query. `ignore_foreign_bodies` reads a body of an
    undocumented media type as empty instead of refusing. `refuse(ctx)` is what to raise instead of
    `Unauthenticated` for credentials that are missing or that their scheme cannot read.
    `method_override` lets a form field `method` of a POST name the method that is meant. `origins`
    are those whose pages may change things. `list_failures` is what the page of errors tells of;
    without it the service has no such page.
    """

    name: str
    document: Mapping[str, Any]
    document_text: bytes = b""
    handlers: str
    base_path: str
    respond: Callable[[Exception, str], Response]
    database: Database | None = None
    settings: Any = None
    adapters: Any = None
    clock: Clock = field(default_factory=_SystemClock)
    require_role: Callable[[Context, str], None] | None = None
    rate_limit: RateLimit | None = None
    chores: tuple[Chore, ...] = ()
    ready: Callable[[], None] | None = None
    body_limit: int = 64 * 1024
    body_timeout_s: float = 15.0
    answer_timeout_s: float = 20.0
    validate_responses: bool = False
    merge_slashes: bool = False
    form_in_query: bool = False
    ignore_foreign_bodies: bool = False
    malformed_path: type[Exception] | None = None
    refuse: Callable[[Context], Exception] | None = None
    method_override: bool = False
    origins: Origins = field(default_factory=Origins)
    security_events: Mapping[type[Exception], SecurityEvent] = field(default_factory=dict)
    list_failures: Callable[[], Sequence[Failure]] | None = None
