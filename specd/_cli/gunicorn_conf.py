"""How gunicorn serves the application: `specd serve`, or gunicorn with
`python:specd._cli.gunicorn_conf`.

The names are gunicorn's settings. A second signal handler, reloader or socket is not wanted here.
"""

import gc
import os
import sys
from math import ceil
from typing import Any

from specd._cli.memory import use_one_arena
from specd._settings import load_settings

use_one_arena()
os.umask(0o077)  # also where gunicorn was not started by `specd serve`

_settings = load_settings()

wsgi_app = "wsgi:app"
bind = [_settings.bind]
workers = _settings.workers
worker_class = "specd._engine.serving.worker.Worker"

backlog = 2048
keepalive = 5
timeout = 60  # a worker whose event loop stands still this long is replaced
graceful_timeout = 10 + ceil(_settings.drain_s)
max_requests = 0
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 16_384
preload_app = True  # a worker that dies is back in milliseconds: nothing is opened at import
control_socket_disable = True

accesslog = None  # the application writes one line for each request itself
errorlog = "-"
loglevel = _settings.log_level

_TURN_S = 0.001  # after so long a thread that computes yields to the event loop
_COLLECT_AFTER = 20_000  # container objects made and not freed: one large answer holds as many

# What is imported and compiled from here on stays. A thousandth of its objects is garbage, but
# collecting it takes a sixth of the start. `when_ready` enables the collection again.
gc.disable()

# Must be set before anything imports prometheus_client, which chooses its storage when imported.
_settings.metrics_dir.mkdir(parents=True, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_settings.metrics_dir)


def on_starting(server: Any) -> None:
    """Delete the counters of the last run, whose process ids may recur."""
    for file in _settings.metrics_dir.glob("*.db"):
        file.unlink(missing_ok=True)


def when_ready(server: Any) -> None:
    """Exclude what was compiled from garbage collection before the workers are forked: it is large
    and never freed, and a collection in the middle of a request would traverse it all (and copy its
    pages to each worker). Workers inherit the interpreter's settings.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(_COLLECT_AFTER, 20, 50)
    sys.setswitchinterval(_TURN_S)


def post_fork(server: Any, worker: Any) -> None:
    """Set how long the worker goes on after SIGTERM."""
    worker.drain_s = _settings.drain_s


def child_exit(server: Any, worker: Any) -> None:
    """Drop the live gauges of a worker that is gone; its counters stay in the sums."""
    for file in _settings.metrics_dir.glob(f"gauge_live*_{worker.pid}.db"):
        file.unlink(missing_ok=True)
