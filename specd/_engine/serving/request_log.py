"""The log's one line per request."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import structlog

from specd._logs import LEVELS

Facts = dict[str, Any]
_OF_THE_LOG = frozenset(("event", "level", "timestamp"))
"""What each log adds to a line by itself."""


class RequestLog:
    """Writes the one line per request.

    Everything in it is known to be clean and complete, so a line of JSON skips the processors and
    goes straight to structlog's output; they cost as much as routing, authenticating and validating
    together. Such lines of one turn of the event loop go out in one write, before the loop waits
    again. Other logs (for people, or of a program that the application is part of) get the line as
    they get any other.
    """

    def __init__(self) -> None:
        self._write: Any = None
        self._lines: list[bytes] = []
        self._log: Any = None

    def line(self, facts: Facts) -> None:
        """One line at level info, from within the event loop; `facts` must be what orjson takes."""
        if self._write is None:
            self._open()
        if self._log is not None:
            own = {key: value for key, value in facts.items() if key not in _OF_THE_LOG}
            self._log.info(facts["event"], **own)
            return
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._flush)
        self._lines.append(orjson.dumps(facts, option=orjson.OPT_UTC_Z))

    def _open(self) -> None:
        config = structlog.get_config()
        factory = config["logger_factory"]
        self._write = _discard
        if type(factory) is not structlog.BytesLoggerFactory:
            self._log = structlog.get_logger("specd.requests")
        elif config["wrapper_class"](None, (), {}).is_enabled_for(LEVELS["info"]):
            self._write = factory().msg

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        self._write(b"\n".join(lines))


def _discard(line: bytes) -> None:
    """Where lines below the configured level go."""
