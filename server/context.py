"""What a handler knows of the request it serves, handed to it explicitly as `ctx`."""

from __future__ import annotations

from asyncio import Future
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Generic, Protocol

from typing_extensions import TypeVar

T = TypeVar("T")
# What a service does not say is not checked: a bare `Context` is any service's.
Adapters = TypeVar("Adapters", default=Any)
Actor = TypeVar("Actor", default=Any)
Settings = TypeVar("Settings", default=Any)
Waiter = Callable[[Future[Any], float], Awaitable[bool]]


class Named(Protocol):
    """What a context tells of its operation."""

    @property
    def operation_id(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...


class Runner(Protocol):
    """Runs `work` with the connection or session of a unit of its own, and returns what it did."""

    def __call__(self, work: Callable[[Any], T]) -> Awaitable[T]: ...


class Context(Generic[Adapters, Actor, Settings]):
    """One request, as its handler sees it.

    A service names its own three types once, beside its handlers, and every handler sees them.

    `session` is a SQLAlchemy `Session` inside a write unit, a Core `Connection` for reading in
    GET and None in `async def` handlers. Security functions get a connection first, and the session
    of the write unit when it begins. `actor` is who asks as the latest of these found them: a
    handler that waits must not keep one from before in a variable. `headers` are raw: names in
    lower case, repeated ones joined.
    `unknown_parameters` are the names sent that the document does not know. `actor_id` and `key_id`
    are what the log calls who asks and the credential they sent, known or not; security functions
    set them, never to a secret.

    Only `async def` handlers have these:
    - `read(work)` runs `work(connection)` in a reading unit;
    - `read_snapshot(work)` does so where all statements see the same moment;
    - `write(work)` runs `work(session)` in a write unit: returning keeps it, raising undoes it;
    - `write_down(work)` does so whoever asks by now: for what has happened elsewhere and must only
      be noted;
    - `wait(future, seconds)` waits, up to so many seconds, and holds neither thread nor connection.
      False: the time is over, or the server stops; answer now. Raises what ends the request when
      the client has gone.

    `read_snapshot` and `write` begin with a new look at who asks: `actor` is of this unit from then
    on. They raise what authentication raises, for somebody who may no longer ask.
    """

    __slots__ = (
        "actor",
        "actor_id",
        "adapters",
        "client",
        "headers",
        "key_id",
        "now",
        "operation",
        "path_parameters",
        "read",
        "read_snapshot",
        "request_id",
        "session",
        "settings",
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
    ) -> None:
        self.operation = operation
        self.headers = headers
        self.client = client
        self.now = now
        self.request_id = request_id
        self.settings = settings
        self.adapters = adapters
        self.session: Any = None
        self.actor: Actor = None  # type: ignore[assignment]  # until it is authenticated
        self.actor_id: int | str | None = None
        self.key_id: str | None = None
        self.path_parameters: Mapping[str, Any] = {}
        self.unknown_parameters: tuple[str, ...] = ()

    def header(self, name: str) -> str | None:
        """The value of a request header, or None; `name` in any case."""
        value = self.headers.get(name.lower().encode("latin-1"))
        return None if value is None else value.decode("latin-1")
