"""The gunicorn worker: uvicorn with uvloop, httptools and our protocol."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import Any

from gunicorn.arbiter import Arbiter
from uvicorn import Config, Server
from uvicorn_worker import UvicornWorker

from specd._engine.serving import health
from specd._engine.serving.protocol import Protocol

ORPHAN_S = 3
"""How long requests may continue after the end of the parent."""


class DrainingServer(Server):
    """Continues for a while after SIGTERM without being ready, so that a load balancer stops using
    it first. It ends if its parent has ended, because otherwise it would never be stopped and would
    keep the port.
    """

    def __init__(self, config: Config, drain_s: float, parent: int) -> None:
        super().__init__(config)
        self._drain_s = drain_s
        self._parent = parent
        self._ends_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGTERM and self._drain_s and self._ends_at is None:
            health.stopping.set()
            self._ends_at = time.monotonic() + self._drain_s
            return
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        is_over = self._ends_at is not None and time.monotonic() >= self._ends_at
        if os.getppid() != self._parent:
            self.config.timeout_graceful_shutdown = ORPHAN_S
            is_over = True
        return await super().on_tick(counter) or is_over


class Worker(UvicornWorker):
    """The worker class. Lifespan is on, so that the worker fails visibly if the application cannot
    start.
    """

    drain_s = 0.0
    """How long it continues after SIGTERM."""
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

    async def _serve(self) -> None:
        self.config.app = self.wsgi
        server = DrainingServer(self.config, self.drain_s, self.ppid)
        self._install_sigquit_handler()
        # uvloop closes a socket of the standard library only once. gunicorn's wrapper would be
        # closed again after its descriptor, which may belong to another file by then.
        await server.serve(sockets=[listener.sock for listener in self.sockets])
        if not server.started:
            sys.exit(Arbiter.WORKER_BOOT_ERROR)
