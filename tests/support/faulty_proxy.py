"""A proxy between a server and PostgreSQL that silently loses connections or all data."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from sqlalchemy import URL, make_url

PIECE = 65536


class FaultyProxy:
    """Listens on the loopback interface and forwards to the server of a URL. The kernel
    acknowledges data that is lost here. A context manager.
    """

    def __init__(self, url: str) -> None:
        self._given = make_url(url)
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._open: set[Line] = set()
        self._flows = asyncio.Event()

    def url_of(self, url: str) -> str:
        """Return the URL of the same database through the proxy."""
        given = make_url(url)
        there = URL.create(
            given.drivername, given.username or "postgres", given.password, "127.0.0.1", self.port,
            given.database,
        )  # fmt: skip
        return there.render_as_string(hide_password=False)

    def vanish(self) -> None:
        """Forward nothing more on the current connections. New connections work."""
        for line in list(self._open):
            line.is_lost = True

    def swallow(self) -> None:
        """Accept every connection and forward nothing until `forward` is called."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def forward(self) -> None:
        self._loop.call_soon_threadsafe(self._flows.set)

    def __enter__(self) -> "FaultyProxy":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self.forward()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = Line(self._flows)
        self._open.add(line)
        folder = self._given.query.get("host")
        port = self._given.port or 5432
        try:
            if isinstance(folder, str):
                path = Path(folder) / f".s.PGSQL.{port}"
                there = await asyncio.open_unix_connection(path)
            else:
                there = await asyncio.open_connection(self._given.host or "127.0.0.1", port)
            pumps = [line.pump(reader, there[1]), line.pump(there[0], writer)]
            with suppress(OSError):
                await asyncio.gather(*pumps)
            there[1].close()
        finally:
            self._open.discard(line)
            writer.close()


class Line:
    """One connection through the proxy."""

    def __init__(self, flows: asyncio.Event) -> None:
        self._flows = flows
        self.is_lost = False

    async def pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        """Forward data, unless the line is lost, and the end of the stream."""
        while piece := await source.read(PIECE):
            await self._flows.wait()
            if not self.is_lost:
                target.write(piece)
                await target.drain()
        target.close()
