"""Executes operations on the event loop or in threads, with or without a database.

The way is chosen when the document is compiled (`operation_of`). A read that never waits (SQLite)
runs on the event loop, unless it may take long: a read whose response has a list, and every request
of more than `SMALL` bytes, runs in a thread for reading. Work that may wait for a lock or a network
runs in the service's threads, in one call.

A request that changes data is authenticated twice: before its content is parsed, and again in the
unit that makes the change, because the caller's rights may have changed while it waited.

A unit gets its connection when the security function or the handler first uses it. So a security
function that reads the caller from the database begins the unit, and the handler gets the caller
from its own transaction.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from specd._engine.context import ASYNC, Context, Unit
from specd._engine.document.operation import Call, Operation
from specd._engine.phases import is_reading, preparation_of, taking_its_own
from specd._engine.response import Response
from specd._engine.service import Database, Service
from specd._engine.threads import Threads
from specd._security_events import asking

SMALL = 8 * 1024


async def _reply_of(running: Awaitable[Any] | AsyncIterator[Any]) -> Any:
    """Return the result of an `async` handler. An async generator is returned as it is: a
    stream.
    """
    return running if isinstance(running, AsyncIterator) else await running


def operation_of(service: Service, **parts: Any) -> Operation:
    """Return an operation with these arguments of `Operation`, with or without a database."""
    if service.database is None:
        return WithoutDatabase(service=service, **parts)
    return WithDatabase(service.database, service=service, **parts)


class WithoutDatabase(Operation):
    """An operation of a service without a database. Everything runs on the event loop."""

    __slots__ = ()

    async def authorize_before_body(self, ctx: Context, call: Call, threads: Threads) -> None:
        self.authorize(ctx, call)

    def serve(self, ctx: Context, call: Call, threads: Threads) -> Response | Awaitable[Response]:
        reply = self.function(ctx, **self.prepare(ctx, call))
        return self._finish_later(reply, call) if self.is_async else self.finish(reply, call)

    async def _finish_later(self, reply: Any, call: Call) -> Response:
        return self.finish(await _reply_of(reply), call)


class WithDatabase(Operation):
    """An operation whose handler reads or writes the service's database."""

    __slots__ = (
        "_database",
        "_first",
        "_handler",
        "_inline_preparation",
        "_inline_reads",
        "_is_long_read",
    )

    def __init__(self, database: Database, **parts: Any) -> None:
        super().__init__(**parts)
        self._database = database
        self._inline_reads = database.reads_inline
        never_reads = (
            self.authenticate is None and self.role is None and self.service.rate_limit is None
        )
        self._inline_preparation = self._inline_reads or never_reads
        self._is_long_read = is_reading(self.function) or (
            self.readonly and self.responses.hold_lists
        )
        first = preparation_of(self.function)
        self._first = None if first is None else taking_its_own(first)
        self._handler = self.function if first is None else taking_its_own(self.function)

    async def authorize_before_body(self, ctx: Context, call: Call, threads: Threads) -> None:
        def look() -> None:
            with self._database.reading_unit() as ctx._unit:
                self.authorize(ctx, call)

        await threads.run_reading(look)

    def serve(self, ctx: Context, call: Call, threads: Threads) -> Response | Awaitable[Response]:
        is_large = len(call.query) + len(call.body) > SMALL
        if self.is_async:
            return self._serve_async(ctx, call, threads, is_large=is_large)
        if self.readonly:
            if self._inline_reads and not (self._is_long_read or is_large):
                return self._read(ctx, call)
            return threads.run_reading(self._read, ctx, call)
        if not self._inline_reads:
            return threads.run_writing(self._prepare_and_write, ctx, call)
        if is_large or self._first is not None:
            return self._prepare_off_and_write(ctx, call, threads)
        return threads.run_writing(self._write, ctx, call, self._prepare_with(ctx, call))

    async def _prepare_off_and_write(self, ctx: Context, call: Call, threads: Threads) -> Response:
        handle = await threads.run_reading(self._prepare_with, ctx, call)
        return await threads.run_writing(self._write, ctx, call, handle)

    async def _serve_async(
        self, ctx: Context, call: Call, threads: Threads, *, is_large: bool
    ) -> Response:
        database = self._database
        if self._inline_preparation and not is_large and self._first is None:
            handle = self._prepare_with(ctx, call)
        else:
            handle = await threads.run_reading(self._prepare_with, ctx, call)
        ctx._unit = ASYNC

        def read(work: Callable[[Any], Any]) -> Any:
            with database.reading_unit() as unit:
                return work(unit.connection)

        def read_snapshot(work: Callable[[Any], Any]) -> Any:
            with database.reading_unit(is_snapshot=True) as unit:
                self._authenticate_again(ctx, unit)
                return work(unit.connection)

        def write(work: Callable[[Any], Any], authenticates: bool = True) -> Any:
            def run(unit: Unit) -> Any:
                with asking(ctx):
                    if authenticates:
                        self._authenticate_again(ctx, unit)
                    return work(unit.session)

            return database.run_unit(run)

        ctx.read = partial(threads.run_reading, read)
        ctx.read_snapshot = partial(threads.run_reading, read_snapshot)
        ctx.write = partial(threads.run_writing, write)
        ctx.write_down = partial(threads.run_writing, partial(write, authenticates=False))
        return self.finish(await _reply_of(handle()), call)

    def _prepare_with(self, ctx: Context, call: Call) -> Callable[[], Any]:
        """Return the handler, bound to all its arguments."""
        with self._database.reading_unit() as ctx._unit:
            arguments = self.prepare(ctx, call)
            if self._first is None:
                return partial(self._handler, ctx, **arguments)
            return partial(self._handler, ctx, self._first(ctx, **arguments), **arguments)

    def _read(self, ctx: Context, call: Call) -> Response:
        with self._database.reading_unit() as ctx._unit:
            arguments = self.prepare(ctx, call)
            return self.finish(self.function(ctx, **arguments), call)

    def _prepare_and_write(self, ctx: Context, call: Call) -> Response:
        return self._write(ctx, call, self._prepare_with(ctx, call))

    def _write(self, ctx: Context, call: Call, handle: Callable[[], Any]) -> Response:
        # The response is encoded and checked within the unit, so that the effects are rolled back
        # if it cannot be sent.
        def work(unit: Unit) -> Response:
            ctx._unit = unit
            self._authenticate(ctx)
            with asking(ctx):
                return self.finish(handle(), call)

        return self._database.run_unit(work)

    def _authenticate_again(self, ctx: Context, unit: Unit) -> None:
        """Authenticate and authorize again in a unit of an async handler."""
        in_unit = copy.copy(ctx)  # `ctx` itself stays without a unit
        in_unit._unit = unit
        self._authenticate(in_unit)
        ctx.actor = in_unit.actor

    def _authenticate(self, ctx: Context) -> None:
        if self.authenticate is not None:
            ctx.actor = self.authenticate(ctx)
            self.require_role(ctx)
