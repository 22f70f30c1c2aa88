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
Runner = Callable[[Callable[[Any], Any]], Awaitable[Any]]
Waiter = Callable[[Future[Any], float], Awaitable[bool]]


class Named(Protocol):
    """What a context tells of its operation."""

    @property
    def operation_id(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...


class Context(Generic[Adapters, Actor, Settings]):
    """One request, as its handler sees it.

    A service names its own three types once, beside its handlers, and every handler sees them.

    `session` is a SQLAlchemy `Session` inside a write unit, a Core `Connection` for reading in
    GET and None in `async def` handlers, which open units themselves with `read` and `write`.
    Security functions get a connection first, and the session of the write unit when it begins.
    `actor` is who asks as the latest of these found them: a handler that waits must not keep one
    from before in a variable. `headers` are raw: names in lower case, repeated ones joined.
    `unknown_parameters` are the names sent that the document does not know. `actor_id` and `key_id`
    are what the log calls who asks and the credential they sent, known or not; security functions
    set them, never to a secret.
    """

    __slots__ = (
        "_operation",
        "_reader",
        "_snapshot_reader",
        "_waiter",
        "_writer",
        "_writer_down",
        "actor",
        "actor_id",
        "adapters",
        "client",
        "headers",
        "key_id",
        "now",
        "path_parameters",
        "request_id",
        "session",
        "settings",
        "unknown_parameters",
    )

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
        self._operation = operation
        self.headers = headers
        self._reader: Runner | None = None
        self._snapshot_reader: Runner | None = None
        self._waiter: Waiter | None = None
        self._writer: Runner | None = None
        self._writer_down: Runner | None = None
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

    def bind_units(
        self, *, read: Runner, read_snapshot: Runner, write: Runner, write_down: Runner
    ) -> None:
        """Give an async handler its ways to open units; the engine calls this."""
        self._reader = read
        self._snapshot_reader = read_snapshot
        self._writer = write
        self._writer_down = write_down

    def bind_wait(self, wait: Waiter) -> None:
        """Give an async handler its way to wait; the engine calls this."""
        self._waiter = wait

    @property
    def operation_id(self) -> str:
        return self._operation.operation_id

    @property
    def method(self) -> str:
        return self._operation.method

    @property
    def path_template(self) -> str:
        return self._operation.path

    def header(self, name: str) -> str | None:
        """The value of a request header, or None; `name` in any case."""
        value = self.headers.get(name.lower().encode("latin-1"))
        return None if value is None else value.decode("latin-1")

    async def read(self, work: Callable[[Any], T]) -> T:
        """Run `work(connection)` in a reading unit of its own."""
        assert self._reader is not None, "read() is for async handlers"
        return await self._reader(work)  # type: ignore[no-any-return]

    async def read_snapshot(self, work: Callable[[Any], T]) -> T:
        """Run `work(connection)` in a reading unit whose statements all see the same moment.

        The unit begins with a new look at who asks, as that of `write` does.
        """
        assert self._snapshot_reader is not None, "read_snapshot() is for async handlers"
        return await self._snapshot_reader(work)  # type: ignore[no-any-return]

    async def write(self, work: Callable[[Any], T]) -> T:
        """Run `work(session)` in a write unit of its own: returning keeps it, raising undoes it.

        The unit begins with a new look at who asks: `actor` is of this unit from then on. Raises
        what authentication raises, for somebody who may no longer ask.
        """
        assert self._writer is not None, "write() is for async handlers"
        return await self._writer(work)  # type: ignore[no-any-return]

    async def write_down(self, work: Callable[[Any], T]) -> T:
        """The same, whoever asks by now: for what has happened elsewhere and only must be noted."""
        assert self._writer_down is not None, "write_down() is for async handlers"
        return await self._writer_down(work)  # type: ignore[no-any-return]

    async def wait(self, future: Future[Any], seconds: float) -> bool:
        """Wait until `future` is done, up to so many seconds; holds neither thread nor connection.

        False: the time is over, or the server stops; answer now. Raises what ends the request when
        the client has gone.
        """
        assert self._waiter is not None, "wait() is for async handlers"
        return await self._waiter(future, seconds)
