"""The log of every process: structlog, one JSON object per line on standard error, no secrets.

A leaf: imports nothing of ours. `configure` takes the patterns of secrets.
"""

import logging
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, BinaryIO

import orjson
import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
BLOT = "[secret]"
CLEAN = frozenset(("level", "timestamp"))


class Redact:
    """Blots secrets out of every text of a line, however deep it lies: what may quote a request."""

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        self.patterns = tuple(patterns)

    def __call__(
        self, logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        for key, value in event.items():
            if key not in CLEAN and not key.startswith("_"):  # the standard library's own record
                event[key] = self._blotted(value)
        return event

    def _blotted(self, value: Any) -> Any:
        if isinstance(value, str):
            for pattern in self.patterns:
                value = pattern.sub(BLOT, value)
            return value
        if isinstance(value, Mapping):
            return {self._blotted(key): self._blotted(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._blotted(item) for item in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._blotted(str(value))


def configure(
    level: str = "info", *, secrets: Iterable[re.Pattern[str]] = (), stream: BinaryIO | None = None
) -> None:
    """Set up the log of this process; what the standard library logs comes out alike.

    `level` is one of `LEVELS`; `secrets` are patterns that must not reach the log; `stream` takes
    bytes.
    """
    least = LEVELS[level.lower()]
    steps: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        Redact(secrets),
    ]
    structlog.configure(
        processors=[*steps, structlog.processors.JSONRenderer(serializer=_dumps)],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.BytesLoggerFactory(stream or sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=steps,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(serializer=lambda *a, **k: _dumps(*a).decode()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(least, logging.WARNING))


def _dumps(event: Any, **options: Any) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)
