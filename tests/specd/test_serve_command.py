"""`specd serve` with a project of a document and a function."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

TIMEOUT_S = 60.0
FILES = {
    "wsgi.py": """
from specd import Project

project = Project("shop")
__getattr__ = project.application
""",
    "shop/__init__.py": "",
    "shop/openapi.yaml": """
openapi: 3.0.3
info: {title: Shop, version: '1'}
paths:
  /opening:
    get:
      operationId: get_opening
      responses: {"200": {description: The opening hours.}}
""",
    "shop/handlers.py": "def get_opening(ctx):\n    return {'from': 9}\n",
}


def test_stop_closes_each_socket_once(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ("PATH", "HOME", "LANG")
    bind = {"SPECD_BIND": f"127.0.0.1:{port}", "SPECD_WORKERS": "2"}
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "specd._cli.main", "serve"],
            cwd=tmp_path,
            env={**{name: os.environ[name] for name in names if name in os.environ}, **bind},
            stdout=out,
            stderr=out,
        )
    try:
        _wait_until_ready(f"http://127.0.0.1:{port}/healthz", server)
        while log.read_text().count("Application startup complete") < 2:
            assert server.poll() is None, log.read_text()
            time.sleep(0.05)
        server.send_signal(signal.SIGTERM)
        assert server.wait(TIMEOUT_S) == 0
    finally:
        server.kill()
        server.wait()
    written = log.read_text()
    assert written.count("Application shutdown complete") == 2
    assert "closing socket" not in written


def _wait_until_ready(url: str, server: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + TIMEOUT_S
    while time.monotonic() < ends_at and server.poll() is None:
        try:
            httpx.get(url, timeout=5)
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server does not respond")
