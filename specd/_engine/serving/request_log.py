"""The log's one line per request."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import structlog

from specd._logs import LEVELS

Facts = dict[str, Any]


class RequestLog:
    """Writes the one line per request.

    Everything in it is known to be clean and complete, so it skips the processors and goes straight
    to structlog's output; they cost as much as routing, authenticating and validating together.
    Lines of one turn of the event loop go out in one write, before the loop waits again.
    """

    def __init__(self) -> None:
        self._write: Any = None
        self._lines: list[bytes] = []

    def line(self, facts: Facts) -> None:
        """One line at level info, from within the event loop; `facts` must be what orjson takes."""
        if self._write is None:
            wrapper = structlog.get_config()["wrapper_class"]
            enabled = wrapper(None, (), {}).is_enabled_for(LEVELS["info"])
            factory = structlog.get_config()["logger_factory"]
            self._write = factory().msg if enabled else _discard
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._flush)
        self._lines.append(orjson.dumps(facts, option=orjson.OPT_UTC_Z))

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        self._write(b"\n".join(lines))


def _discard(line: bytes) -> None:
    """Where lines below the configured level go."""
