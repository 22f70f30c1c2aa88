"""structlog, set up once per process: one JSON object per line on standard error."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
from collections.abc import Iterable, MutableMapping
from typing import Any, BinaryIO

import orjson
import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}


class Redact:
    """Blots secrets out of what may quote a request: tracebacks and free text."""

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        self.patterns = tuple(patterns)

    def __call__(
        self, logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        for key in ("exception", "error", "detail"):
            text = event.get(key)
            if isinstance(text, str):
                for pattern in self.patterns:
                    text = pattern.sub("[secret]", text)
                event[key] = text
        return event


class RequestLog:
    """Writes the one line per request.

    Everything in it is known to be clean and complete, so it skips the processors and goes straight
    to structlog's output; they cost as much as routing, authenticating and validating together.
    Lines of one turn of the event loop go out in one write, before the loop waits again.
    """

    def __init__(self) -> None:
        self._write: Any = None
        self._lines: list[bytes] = []

    def line(self, **facts: Any) -> None:
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


def _dumps(event: Any, **options: Any) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)


def configure(
    level: str = "info", *, secrets: Iterable[re.Pattern[str]] = (), stream: BinaryIO | None = None
) -> None:
    """Set up logging for this process. `level` is one of `LEVELS`; `stream` takes bytes."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            Redact(secrets),
            structlog.processors.JSONRenderer(serializer=_dumps),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level.lower()]),
        logger_factory=structlog.BytesLoggerFactory(stream or sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=LEVELS[level.lower()], stream=sys.stderr, format="%(message)s")
    logging.getLogger("connexion").setLevel(logging.WARNING)
