"""A real gunicorn on a free port, started like `specd serve`, for tests that need one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from specd._cli.serve import gunicorn_argv
from tests.support import warm
from wsgi import project

ROOT = Path(__file__).parents[2]
START_S = 120.0


UNVERIFIED = False
"""For requests without TLS.

By default a client of httpx reads all certificates of the machine, which takes 23 ms of CPU time.
"""


def free_port() -> int:
    """Return a port that is unused at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server responds."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            httpx.get(url, timeout=2, verify=UNVERIFIED)
            return
        except httpx.TransportError:
            alive = process.poll() is None and time.monotonic() < deadline
            assert alive, log.read_text()[-4000:]
            time.sleep(0.05)


class RunningServer:
    """gunicorn with a service, with all of them (`app`), or the command `specd WORDS`. A context
    manager.

    Its log goes to `log`.
    """

    def __init__(
        self,
        data_dir: Path,
        environment: dict[str, str],
        *,
        application: str = "payment",
        words: tuple[str, ...] = (),
        port: int = 0,
        as_given: bool = False,
    ) -> None:
        """`as_given`: do not change the environment, which names this `port`."""
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data_dir / "server.log"
        self._argv = gunicorn_argv(project.names if application == "app" else (application,))
        if words:
            self._argv = [sys.executable, "-m", "specd._cli.main", *words]
        self._environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SPECD_")},
            "PYTHONPATH": str(ROOT),
            **({} if as_given else self._usual(data_dir)),
            **environment,
        }
        self._workers = int(environment.get("SPECD_WORKERS", "1"))
        self._process: subprocess.Popen[bytes] | None = None

    def _usual(self, data_dir: Path) -> dict[str, str]:
        return {
            "SPECD_DATA_DIR": str(data_dir),
            "SPECD_BIND": f"127.0.0.1:{self.port}",
            "SPECD_PUBLIC_URL": self.url,
            "SPECD_RATE_LIMITS": "false",
            "SPECD_VALIDATE_RESPONSES": "true",
        }

    def __enter__(self) -> RunningServer:
        with self.log.open("ab") as log:
            self._process = warm.Popen(
                self._argv,
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                # gunicorn forks its workers one by one, and the first responds before the last
                # exists.
                answer = httpx.get(f"{self.url}/readyz", timeout=2, verify=UNVERIFIED)
                if answer.status_code == 200 and len(self.worker_pids()) >= self._workers:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        self.stop()
        raise AssertionError(f"the server did not start:\n{self.log.read_text()[-4000:]}")

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Return gunicorn's arbiter."""
        assert self._process is not None
        return self._process.pid

    def worker_pids(self) -> list[int]:
        """Return the living workers, oldest first."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return sorted(int(pid) for pid in children.read_text().split())

    def stop(self) -> None:
        """SIGTERM, and SIGKILL for the process group if it has not ended in time."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(5)
        self._process = None
