"""The configuration of gunicorn, for `specd serve` or gunicorn with
`python:specd._cli.gunicorn_conf`.

The names are gunicorn's settings. Do not add another signal handler, reloader or socket here.
"""

import gc
import os
import sys
from math import ceil
from typing import Any

from specd._cli.memory import use_one_arena
from specd._settings import load_settings

use_one_arena()
os.umask(0o077)  # also if gunicorn was not started by `specd serve`

_settings = load_settings()

wsgi_app = "wsgi:app"
bind = [_settings.bind]
workers = _settings.workers
worker_class = "specd._engine.serving.worker.Worker"

backlog = 2048
keepalive = 5
timeout = 60  # a worker whose event loop stalls this long is replaced
graceful_timeout = 10 + ceil(_settings.drain_s)
max_requests = 0
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 16_384
preload_app = True  # a worker that dies is replaced in milliseconds: nothing is opened at import
control_socket_disable = True

accesslog = None  # the application itself logs each request
errorlog = "-"
loglevel = _settings.log_level

_TURN_S = 0.001  # a computing thread yields to the event loop after this time
_COLLECT_AFTER = 20_000  # container objects created and not freed, as many as in one large response

# Objects that are imported and compiled from here on are permanent. A thousandth of them is
# garbage, but collection takes a sixth of the start. `when_ready` enables it again.
gc.disable()

# Must be set before anything imports prometheus_client, which chooses its storage when imported.
_settings.metrics_dir.mkdir(parents=True, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_settings.metrics_dir)


def on_starting(server: Any) -> None:
    """Delete the counters of the last run, because its process ids may be reused."""
    for file in _settings.metrics_dir.glob("*.db"):
        file.unlink(missing_ok=True)


def when_ready(server: Any) -> None:
    """Exclude compiled documents from garbage collection before the workers are forked. They are
    large and never freed, and a collection during a request would traverse all of them (and copy
    their pages to each worker). Workers inherit the interpreter's settings.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(_COLLECT_AFTER, 20, 50)
    sys.setswitchinterval(_TURN_S)


def post_fork(server: Any, worker: Any) -> None:
    """Set how long the worker continues after SIGTERM."""
    worker.drain_s = _settings.drain_s


def child_exit(server: Any, worker: Any) -> None:
    """Delete the live gauges of a worker that has ended. Its counters remain in the sums."""
    for file in _settings.metrics_dir.glob(f"gauge_live*_{worker.pid}.db"):
        file.unlink(missing_ok=True)
