"""A temporary Redis that a test can kill, stop and restart."""

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

PATIENCE_S = 20.0


class RedisServer:
    """A Redis on a loopback port, without persistence."""

    def __init__(self, folder: Path, *, password: str = "") -> None:
        pytest.importorskip("redis", reason="NOT TESTED: the extra limits is not installed")
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            pytest.skip("NOT TESTED: no redis-server")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._words = [
            *(program, "--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--requirepass", password),
        ]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        """Start it without data, and wait until it listens."""
        self._process = subprocess.Popen(
            self._words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            except OSError:
                assert self._process.poll() is None, "redis-server does not start"
                assert time.monotonic() < until, "redis-server does not listen"
                time.sleep(0.02)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def hang(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)
