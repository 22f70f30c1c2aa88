"""The context of one request, which its handler gets as `ctx`."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol

from typing_extensions import TypeVar

from specd._engine.http.guard import load_object

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.orm import Session

T = TypeVar("T")
# A bare `Context` is any service's, with unchecked types.
Adapters = TypeVar("Adapters", default=Any)
Actor = TypeVar("Actor", default=Any)
Settings = TypeVar("Settings", default=Any)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
Waiter = Callable[[Future[Any], float], Awaitable[bool]]


class Named(Protocol):
    """The operation of a context."""

    @property
    def operation_id(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...


class Unit(Protocol):
    """A unit of work, which begins when `connection` or `session` is first used."""

    @property
    def connection(self) -> Any: ...
    @property
    def session(self) -> Any: ...
    @property
    def is_read_only(self) -> bool: ...


class NoUnit:
    """The unit of a context without one. Raise RuntimeError, with the reason, if it is used."""

    is_read_only = True

    def __init__(self, reason: str) -> None:
        self._reason = reason

    @property
    def connection(self) -> NoReturn:
        raise RuntimeError(f"ctx.connection: {self._reason}")

    @property
    def session(self) -> NoReturn:
        raise RuntimeError(f"ctx.session: {self._reason}")


WITHOUT_DATABASE = NoUnit("the service has no database")
ASYNC = NoUnit("an async def handler uses ctx.read and ctx.write")


class Runner(Protocol):
    """Runs `work` with the connection or session of a unit of its own and returns its result."""

    def __call__(self, work: Callable[[Any], T]) -> Awaitable[T]: ...


class Context(Generic[Adapters, Actor, Settings]):
    """One request, as its handler sees it. Each service defines its own three types once.

    Security functions run in a unit that reads, and again in the unit that writes. `actor` is the
    caller as the latest of these loaded it, so a handler that waits must not keep an earlier one in
    a variable. `headers` are raw: names in lower case, repeated ones joined. `query` is as it was
    sent, and so is `content`, the body, by which a handler verifies a signature; it is empty where
    files came. `texts` are the parameters of the path before they are validated.
    `unknown_parameters` are the names sent that the document does not have. `actor_id` and `key_id`
    name the caller and the credential, valid or not, in the log; security functions set them, never
    to a secret. `traceparent` is the trace context of the request, if it has one.

    Only `async def` handlers have these:
    - `read(work)` runs `work(connection)` in a reading unit;
    - `read_snapshot(work)` does so where all statements see the same moment;
    - `write(work)` runs `work(session)` in a write unit: returning keeps it, raising undoes it;
    - `write_down(work)` does so without authenticating again: for recording what has already
      happened elsewhere;
    - `wait(future, seconds)` waits up to so many seconds without a thread or a connection. False
      means that the time is over or the server stops, so the handler must answer now. Raises what
      ends the request when the client has gone.

    `read_snapshot` and `write` begin by authenticating again: `actor` is of this unit from then on,
    and a caller whose access has ended gets the error of authentication.
    """

    __slots__ = (
        "_unit",
        "actor",
        "actor_id",
        "adapters",
        "client",
        "content",
        "headers",
        "idempotency",
        "key_id",
        "now",
        "operation",
        "path_parameters",
        "query",
        "read",
        "read_snapshot",
        "request_id",
        "settings",
        "texts",
        "traceparent",
        "unknown_parameters",
        "wait",
        "write",
        "write_down",
    )
    read: Runner
    read_snapshot: Runner
    write: Runner
    write_down: Runner
    wait: Waiter

    def __init__(
        self,
        operation: Named,
        headers: Mapping[bytes, bytes],
        client: str,
        now: datetime,
        request_id: str,
        settings: Settings,
        adapters: Adapters,
        query: bytes = b"",
        traceparent: str | None = None,
    ) -> None:
        self.operation = operation
        self.headers = headers
        self.client = client
        self.now = now
        self.request_id = request_id
        self.settings = settings
        self.adapters = adapters
        self.query = query
        self.content = b""
        self.traceparent = traceparent
        self._unit: Unit = WITHOUT_DATABASE
        self.idempotency: Any = None
        self.actor: Actor = None  # type: ignore[assignment]  # until it is authenticated
        self.actor_id: int | str | None = None
        self.key_id: str | None = None
        self.path_parameters: Mapping[str, Any] = _NOTHING
        self.texts: Mapping[str, list[str]] = _NOTHING
        self.unknown_parameters: tuple[str, ...] = ()

    @property
    def session(self) -> Session:
        """Return the ORM session of the unit of work, which begins at the first use of `session` or
        `connection`. Where the unit only reads, changes are an error when they are flushed. Raise
        `DatabaseUnavailable`, and RuntimeError in an `async def` handler, after the unit, and
        without a database.
        """
        session: Session = self._unit.session
        return session

    @property
    def connection(self) -> Connection:
        """Return the Core connection of the same transaction, which is faster than the session. It
        does not flush the session first. Raise the errors of `session`.
        """
        connection: Connection = self._unit.connection
        return connection

    @property
    def is_read_only(self) -> bool:
        """Return whether the unit of work only reads: in GET, HEAD and QUERY, in operations marked
        `read_only`, and before a transaction.
        """
        return self._unit.is_read_only

    def header(self, name: str) -> str | None:
        """Return the value of a request header, or None; `name` in any case."""
        value = self.headers.get(name.lower().encode("latin-1"))
        return None if value is None else value.decode("latin-1")

    def json_object(self, text: str | None = None, pointer: str = "/body") -> dict[str, Any]:
        """Return the object that the body is as JSON, whatever media type it was sent as, or the
        object in the text of the field at `pointer`. Raise `InvalidRequest`.
        """
        return load_object(self.content if text is None else text.encode(), pointer)
