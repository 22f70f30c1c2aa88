"""The log line of each request."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import structlog

from specd._logs import LEVELS

Facts = dict[str, Any]
_OF_THE_LOG = frozenset(("event", "level", "timestamp"))
"""The keys that each log adds to a line itself."""


class RequestLog:
    """Writes one log line per request.

    Its content is known to be clean and complete, so a JSON line skips the processors, which cost
    as much as routing, authentication and validation together, and goes directly to structlog's
    output. The lines of one turn of the event loop are written together, before the loop waits
    again. Other logs (text at a terminal, or the log of a program that contains the application)
    get the line like any other.
    """

    def __init__(self) -> None:
        self._write: Any = None
        self._lines: list[bytes] = []
        self._log: Any = None

    def line(self, facts: Facts) -> None:
        """Write one line at level info, from within the event loop. `facts` must be serializable by
        orjson.
        """
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
    """Discard a line below the configured level."""
