"""The log of every process: structlog, on standard error, without secrets. It is one JSON object
per line, or text with tracebacks at a terminal.

It imports no other module of specd, so `configure` gets the patterns of secrets as an argument.
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
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\"=]+")


class Readers:
    """Whether the log of this process is text even if it is not written to a terminal."""

    are_people = False


class Redact:
    """Redacts the secrets in every text of a log line, at any depth, because values may quote a
    request.
    """

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        self.patterns = tuple(patterns)

    def __call__(
        self, logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        for key, value in event.items():
            if key not in CLEAN and not key.startswith("_"):  # the standard library's own record
                event[key] = self._redacted(value)
        return event

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            for pattern in self.patterns:
                value = pattern.sub(BLOT, value)
            return value
        if isinstance(value, Mapping):
            return {self._redacted(key): self._redacted(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._redacted(item) for item in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self._redacted(str(value))


def configure(
    level: str = "info",
    *,
    secrets: Iterable[re.Pattern[str]] = (),
    stream: BinaryIO | None = None,
    for_people: bool | None = None,
) -> None:
    """Set up the log of this process. Lines of the standard library's `logging` have the same
    format.

    `level` is one of `LEVELS`. Matches of the patterns `secrets` are redacted. `stream` is a binary
    stream. Without `for_people`, lines are text at a terminal or if `Readers.are_people`.
    """
    if for_people is None:
        for_people = Readers.are_people or (stream is None and sys.stderr.isatty())
    least = LEVELS[level.lower()]
    steps: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        Redact(secrets),
    ]
    output = stream or sys.stderr.buffer
    as_bytes: Any = structlog.processors.JSONRenderer(serializer=_dumps)
    as_text: Any = structlog.processors.JSONRenderer(serializer=lambda *a, **k: _dumps(*a).decode())
    if for_people:
        as_bytes, as_text = (lambda *parts: _for_people(*parts).encode()), _for_people
    structlog.configure(
        processors=[*steps, as_bytes],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=(TextLogs if for_people else structlog.BytesLoggerFactory)(output),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=steps,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                as_text,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(least, logging.WARNING))


class TextLogs(structlog.BytesLoggerFactory):
    """Makes loggers that write lines of text."""


def _for_people(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
    """Return a line of text and its traceback, without control characters of terminals."""
    time = str(event.pop("timestamp", ""))[11:19]
    level, name = event.pop("level", method), event.pop("event", "")
    exception = event.pop("exception", None)
    facts = [f"{key}={_shown(value)}" for key, value in event.items() if value is not None]
    lines = [f"{time} {level:<8} {name}  {' '.join(facts)}".rstrip()]
    if exception is not None:
        lines.append(exception)
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", "\n".join(lines))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else repr(value)
    return str(value) if isinstance(value, int | float) else _dumps(value).decode()


def _dumps(event: Any, **options: Any) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)
