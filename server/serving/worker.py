"""The gunicorn worker: uvicorn on uvloop and httptools, with our protocol."""

from __future__ import annotations

from typing import Any

from uvicorn_worker import UvicornWorker

from server.serving.protocol import Protocol


class Worker(UvicornWorker):
    """Lifespan is on, so that an application that cannot start stops the worker loudly."""

    CONFIG_KWARGS: dict[str, Any] = {  # noqa: RUF012 (gunicorn reads it off the class)
        "loop": "uvloop",
        "http": Protocol,
        "lifespan": "on",
        "access_log": False,
        "server_header": False,
        "date_header": True,
        "ws": "none",
        "proxy_headers": False,
    }
