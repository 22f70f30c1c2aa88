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
# A bare `Context` fits any service, with unchecked types.
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
    """Stands in for a missing unit of work. Its use raises RuntimeError with the reason."""

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
    """Runs `work` with the connection or session of a new unit of work and returns its result."""

    def __call__(self, work: Callable[[Any], T]) -> Awaitable[T]: ...


class Context(Generic[Adapters, Actor, Settings]):
    """The context of one request, which its handler receives. Each service defines the three types
    once.

    Security functions run in a unit that reads, and again in the unit that writes. `actor` is the
    caller that the last call of a security function returned, so a handler that waits must not keep
    an earlier value. `headers` are raw, with lower-case names and repeated headers joined. `query`
    is the raw query. `content` is the raw body, with which a handler can verify a signature. It is
    empty if the request has files. `texts` are the path parameters before validation.
    `unknown_parameters` are the names in the request that the document does not have. `actor_id`
    and `key_id` identify the caller and the credential, valid or not, in the log. Security
    functions set them, never to a secret. `traceparent` is the trace context of the request, if it
    has one.

    Only `async def` handlers have these:
    - `read(work)` runs `work(connection)` in a unit that reads;
    - `read_snapshot(work)` does the same, and all statements see the same state;
    - `write(work)` runs `work(session)` in a unit that writes: it is committed if `work` returns,
      and rolled back if it raises;
    - `write_down(work)` does the same without authenticating again, for recording something that
      has already happened elsewhere;
    - `wait(future, seconds)` waits at most `seconds` without a thread or a connection. It returns
      False if the time is over or the server is stopping, and the handler must then respond
      immediately. It raises the exception that ends the request if the client has disconnected.

    `read_snapshot` and `write` authenticate again first: `actor` then comes from this unit, and a
    caller whose access has ended gets the authentication error.
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
        """The ORM session of the unit of work, which begins at the first use of `session` or
        `connection`. If the unit only reads, flushing changes is an error. Raise
        `DatabaseUnavailable`, and RuntimeError in an `async def` handler, after the end of the
        unit, or without a database.
        """
        session: Session = self._unit.session
        return session

    @property
    def connection(self) -> Connection:
        """The Core connection of the same transaction, which is faster than the session. It does
        not flush the session first. Raise the errors of `session`.
        """
        connection: Connection = self._unit.connection
        return connection

    @property
    def is_read_only(self) -> bool:
        """Whether the unit of work only reads: in GET, HEAD and QUERY, in operations marked
        `read_only`, and in the phase before a transaction.
        """
        return self._unit.is_read_only

    def header(self, name: str) -> str | None:
        """Return the value of a request header, or None. The case of `name` does not matter."""
        value = self.headers.get(name.lower().encode("latin-1"))
        return None if value is None else value.decode("latin-1")

    def json_object(self, text: str | None = None, pointer: str = "/body") -> dict[str, Any]:
        """Return the JSON object in the body, regardless of its media type, or the JSON object in
        `text`, which is the field at `pointer`. Raise `InvalidRequest`.
        """
        return load_object(self.content if text is None else text.encode(), pointer)
