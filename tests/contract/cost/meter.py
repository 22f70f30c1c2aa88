"""The cost of a request: processor time, statements, the longest iteration of the event loop, and
the Python time in a writing transaction.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from asyncio.events import Handle
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import structlog
from sqlalchemy import Engine, event

import specd._engine.serving.engine
from models.chat.rendering.links import Linkifiers
from specd import _logs as logs
from specd._engine.serving.request_log import RequestLog
from specd.db import Database
from tests.contract.cost.weighing import take_bytes

NOTICE_MAX = 3000
"""Characters of the longest notice of the notification bot. It may be rendered in the write that it
reports, because it can name objects created there."""


@dataclass
class Cost:
    """The cost of a request.

    `seconds`, `turn` (the longest iteration of the event loop) and `held` (of Python, in a writing
    transaction) are processor time. `linkifying` is the part of `seconds` in linkifiers, which have
    a time limit and do not depend on the text. `within` are the functions called in a writing
    transaction.
    """

    seconds: float = 0.0
    linkifying: float = 0.0
    turn: float = 0.0
    held: float = 0.0
    statements: int = 0
    sent: int = 0
    answered: int = 0
    logged: int = 0
    written: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    within: set[str] = field(default_factory=set)

    def least(self, other: Cost) -> Cost:
        """Return the minimum of two measurements of one request."""
        return Cost(
            min(self.seconds, other.seconds),
            min(self.linkifying, other.linkifying),
            min(self.turn, other.turn),
            min(self.held, other.held),
            min(self.statements, other.statements),
            self.sent,
            self.answered,
            self.logged,
            self.written,
            self.texts,
            self.within | other.within,
        )


class RolledBack(Database):
    """A database without changes: each commit is a rollback, so that the next request finds the
    same data. `keeps` disables this.
    """

    keeps = False
    written: Counter[str] | None = None
    """The written bytes by table, if they are recorded."""

    def _create_engine(self, use: str) -> Engine:
        engine = super()._create_engine(use)
        if use == "writing":
            event.listen(engine, "commit", self._before_commit)
        return engine

    def _before_commit(self, connection: Any) -> None:
        raw = connection.connection.dbapi_connection
        if self.written is not None:
            self.written.update(take_bytes(raw))
        if not self.keeps:
            raw.rollback()


class Meter:
    """Measures requests while it is open, one at a time, in one process."""

    def __init__(self, database: RolledBack) -> None:
        self._database = database
        self._cost = Cost()
        self._log = BytesIO()
        self._local = threading.local()

    @contextmanager
    def open(self) -> Iterator[Meter]:
        """Listen to the engines, the event loop and the functions in `FORBIDDEN`."""
        with self._database.reading() as connection:
            reader = connection.engine
        writer = self._database._engine("writing")
        gc.collect()
        gc.freeze()  # garbage of the tests is not part of a request's cost
        for engine in (reader, writer):
            event.listen(engine, "before_cursor_execute", self._before)
            event.listen(engine, "after_cursor_execute", self._after)
        event.listen(writer, "begin", self._begin)
        event.listen(writer, "commit", self._end)
        event.listen(writer, "rollback", self._end)
        run, has_time = Handle._run, Linkifiers._has_time
        meter = self

        def timed(handle: Any) -> Any:
            started = time.thread_time()
            try:
                return run(handle)
            finally:
                spent = time.thread_time() - started
                meter._cost.turn = max(meter._cost.turn, spent)

        def noted(linkifiers: Linkifiers) -> bool:
            before = linkifiers._spent_s
            is_left = has_time(linkifiers)
            meter._cost.linkifying += linkifiers._spent_s - before
            return is_left

        Handle._run = timed  # type: ignore[method-assign]
        Linkifiers._has_time = noted  # type: ignore[method-assign]
        restore = [_watch(function, self._called) for function in forbidden()]
        configured, requests = structlog.get_config(), specd._engine.serving.engine.requests
        logs.configure("info", stream=self._log)
        specd._engine.serving.engine.requests = RequestLog()
        try:
            yield self
        finally:
            structlog.configure(**configured)
            specd._engine.serving.engine.requests = requests
            Handle._run = run  # type: ignore[method-assign]
            Linkifiers._has_time = has_time  # type: ignore[method-assign]
            for undo in restore:
                undo()
            for engine in (reader, writer):
                event.remove(engine, "before_cursor_execute", self._before)
                event.remove(engine, "after_cursor_execute", self._after)
            event.remove(writer, "begin", self._begin)
            event.remove(writer, "commit", self._end)
            event.remove(writer, "rollback", self._end)
            gc.unfreeze()

    def measure(self, work: Callable[[], Any]) -> tuple[Cost, Any]:
        """Return the cost and the result of `work`."""
        gc.collect(1)
        self._cost = Cost()
        self._log.seek(0)
        self._log.truncate()
        if self._database.written is not None:
            self._database.written = self._cost.written
        started = time.process_time()
        result = work()
        self._cost.seconds = time.process_time() - started
        self._cost.logged = self._log.tell()
        return self._cost, result

    def _before(self, connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if not statement.startswith(("BEGIN", "ROLLBACK")):
            self._cost.statements += 1
            self._cost.texts[statement] += 1
        self._local.started = time.thread_time()

    def _after(self, *_: Any) -> None:
        spent = time.thread_time() - self._local.started
        if getattr(self._local, "begun", None) is not None:
            self._local.begun += spent  # the time of statements is not Python time

    def _begin(self, connection: Any) -> None:
        self._local.begun = time.thread_time()

    def _end(self, connection: Any) -> None:
        begun = getattr(self._local, "begun", None)
        if begun is not None:
            self._cost.held += time.thread_time() - begun
        self._local.begun = None

    def _called(self, name: str) -> None:
        if getattr(self._local, "begun", None) is not None:
            self._cost.within.add(name)


def forbidden() -> list[Any]:
    """Return the functions that must not run in a writing transaction: rendering, diffs, hashes,
    estimates.
    """
    from models.chat.identity import passwords
    from models.chat.rendering import diff, markdown

    return [markdown.render, diff.content_html_diff, passwords.hash_password, passwords.is_strong]


def _watch(function: Any, called: Callable[[str], None]) -> Callable[[], None]:
    """Replace `function` by a wrapper in all of our modules."""
    name = f"{function.__module__}.{function.__name__}"
    is_secret = "password" in name

    def watched(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(text, str) and len(text) > NOTICE_MAX for text in args) or is_secret:
            called(name)
        return function(*args, **kwargs)

    places = [
        (module, key)
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith(("models", "handlers", "workers"))
        for key, value in list(vars(module).items())
        if value is function
    ]
    for module, key in places:
        setattr(module, key, watched)

    def undo() -> None:
        for module, key in places:
            setattr(module, key, function)

    return undo
