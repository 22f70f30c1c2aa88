"""How gunicorn serves the application: `specd serve`, or gunicorn with `python:cli.gunicorn_conf`.

The names are gunicorn's settings. A second signal handler, reloader or socket is not wanted here.
"""

import os
from typing import Any

from settings import Settings

_settings = Settings.from_env()

wsgi_app = "wsgi:app"
bind = [_settings.bind]
workers = _settings.workers
worker_class = "server.serving.Worker"

backlog = 2048
keepalive = 5
timeout = 60  # a worker whose event loop stands still this long is replaced
graceful_timeout = 10
max_requests = 0
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 16_384
preload_app = True  # a worker that dies is back in milliseconds: nothing is opened at import
control_socket_disable = True

accesslog = None  # the application writes one line for each request itself
errorlog = "-"
loglevel = _settings.log_level

# Must be set before anything imports prometheus_client, which chooses its storage when imported.
_settings.metrics_dir.mkdir(parents=True, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_settings.metrics_dir)


def on_starting(server: Any) -> None:
    """Forget the counters of the last run: their process ids may come again."""
    for file in _settings.metrics_dir.glob("*.db"):
        file.unlink(missing_ok=True)


def child_exit(server: Any, worker: Any) -> None:
    """Drop the live gauges of a worker that is gone; its counters stay in the sums."""
    for file in _settings.metrics_dir.glob(f"gauge_live*_{worker.pid}.db"):
        file.unlink(missing_ok=True)
