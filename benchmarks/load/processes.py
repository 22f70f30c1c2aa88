"""Servers as child processes: pinned to a core, measured for CPU time, stopped by process id."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from benchmarks.load.checkout import HERE, Checkout

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class ServerFailed(Exception):
    """A server ended or did not listen in time. The message contains the end of its log."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """One server in a separate process group, from `with` to the end of the block."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        port: int,
        log: Path,
        env: Mapping[str, str] | None = None,
        core: int | None = None,
        user: str | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        checkout: Checkout = HERE,
    ) -> None:
        pin = ["taskset", "-c", str(core)] if core is not None else []
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._command = [*pin, *command]
        self._env = checkout.environment(env or {})
        self._root = checkout.root
        self._log = log
        self._user = user
        self._stop_signal = stop_signal
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Server":
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                raise ServerFailed(f"{self.name}: port {self.port} is taken")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._root,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self._user,
            )
        try:
            self._wait_until_ready(deadline=time.monotonic() + 30)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def is_ready(self) -> bool:
        """Return whether the server listens."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _wait_until_ready(self, *, deadline: float) -> None:
        assert self._process is not None
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            if self.is_ready():
                return
            time.sleep(0.05)
        raise ServerFailed(f"{self.name} does not listen:\n{self.log_end()}")

    def log_end(self) -> str:
        """Return the end of the server's log."""
        return self._log.read_text(errors="replace")[-3000:]

    def stop(self) -> None:
        """Stop the process group with the stop signal, or kill it after five seconds."""
        if self._process is None:
            return
        for sign, patience_s in ((self._stop_signal, 5.0), (signal.SIGKILL, 5.0)):
            try:
                os.killpg(self._process.pid, sign)
            except ProcessLookupError:
                break
            try:
                self._process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        self._process.poll()

    @property
    def pid(self) -> int:
        """The process that was started. Others may be its children."""
        assert self._process is not None
        return self._process.pid

    def cpu_seconds(self) -> float:
        """Return the user and system time of the process group so far (/proc/*/stat)."""
        assert self._process is not None
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == self._process.pid:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_PER_SECOND
