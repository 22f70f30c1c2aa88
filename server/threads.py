"""The threads of one service: those that write, and those for reads that may take long.

Made on first use, so after the fork. Where reads never wait (SQLite) there are few for reading:
they are for what would hold up the event loop, and several at once would only take turns at the
processor. Elsewhere reads and writes share the threads, as many as there are connections.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

from server.service import Database

LONG_READS = 2


class Threads:
    """Executors by what they are for; None is asyncio's own, for a service without a database."""

    def __init__(self, name: str, database: Database | None) -> None:
        self._name = name
        self._database = database
        self._writing: ThreadPoolExecutor | None = None
        self._reading: ThreadPoolExecutor | None = None

    @property
    def writing(self) -> Executor | None:
        if self._writing is None and self._database is not None:
            self._writing = ThreadPoolExecutor(self._database.write_threads, self._name)
        return self._writing

    @property
    def reading(self) -> Executor | None:
        if self._database is None or not self._database.reads_inline:
            return self.writing
        if self._reading is None:
            self._reading = ThreadPoolExecutor(LONG_READS, f"{self._name}-reads")
        return self._reading

    def close(self) -> None:
        """Let the work under way finish, and nothing else begin."""
        for executor in (self._reading, self._writing):
            if executor is not None:
                executor.shutdown(wait=True, cancel_futures=True)
        self._reading = self._writing = None
