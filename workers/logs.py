"""structlog as the server's own log has it: one JSON object per line on standard error."""

import logging
import sys
from typing import Any

import orjson
import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(level: str) -> None:
    """Set up logging for this process; what the standard library logs comes out alike."""
    shared: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(serializer=_dumps)],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(serializer=lambda *a, **k: _dumps(*a).decode()),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(LEVELS[level], logging.WARNING))


def _dumps(event: Any, **options: Any) -> bytes:
    return orjson.dumps(event, default=str, option=orjson.OPT_UTC_Z)
