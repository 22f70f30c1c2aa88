"""A running `specd demo`, as a new user starts it."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.live.running_server import free_port
from tests.support import warm

ROOT = Path(__file__).parents[2]
START_WITHIN_S = 120.0
STOP_WITHIN_S = 60.0


def until(condition: Callable[[], bool], within_s: float, what: str) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def descendants(pid: int) -> set[int]:
    """Return the descendants of `pid` according to /proc."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


class Demo:
    """One running `specd demo` in `directory`, with its output."""

    def __init__(self, directory: Path, *words: str, **settings: str) -> None:
        self.base_url = f"http://127.0.0.1:{free_port()}"
        self.env = {
            **{name: value for name, value in os.environ.items() if "SPECD_" not in name},
            "PYTHONPATH": str(ROOT),
            "SPECD_DATA_DIR": str(directory / "var"),
            "SPECD_BIND": self.base_url.removeprefix("http://"),
            "SPECD_CHAIN_PORT": str(free_port()),
            "SPECD_WORKERS": "2",
            **settings,
        }
        if "SPECD_ANVIL" in os.environ:
            self.env["SPECD_ANVIL"] = os.environ["SPECD_ANVIL"]
        self.directory = directory
        self._out = directory / "out"
        self._err = directory / "err"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = warm.Supervisor(
                [sys.executable, "-m", "specd._cli.main", "demo", *words],
                cwd=directory, env=self.env, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        mark = '"invoice_id"' if "--json" in words else "message_content_delete_limit_seconds"
        until(
            lambda: mark in self.out or self.process.poll() is not None,
            START_WITHIN_S,
            f"the demo is not ready: {self.err}",
        )
        assert self.process.poll() is None, self.err

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def err(self) -> str:
        return self._err.read_text()

    def paste(self, command: str) -> str:
        """Return the output of a line of the guide in a shell in another directory."""
        with warm.shell() as specd:
            script = command.replace(f"{shlex.quote(sys.executable)} -m specd._cli.main", specd)
            pasted = subprocess.run(
                ["bash", "-c", script],
                cwd="/", env=self.env, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
        assert pasted.returncode == 0, pasted.stderr
        return pasted.stdout

    def invoice(self, key: str, invoice_id: str) -> dict[str, Any]:
        answer = httpx.get(
            f"{self.base_url}/v1/invoices/{invoice_id}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=10,
        )
        assert answer.status_code == 200, answer.text
        record: dict[str, Any] = answer.json()
        return record

    def stop(self) -> None:
        """Press Ctrl-C and check that no process remains."""
        below = descendants(self.process.pid)
        assert len(below) >= 7, (
            "a forking process, chain, outside, gunicorn with two workers, workers"
        )
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(STOP_WITHIN_S) == 0
        assert self.err.splitlines()[-1] == "specd: all stopped"
        alive = {pid for pid in below if Path(f"/proc/{pid}").exists()}
        until(
            lambda: not {p for p in alive if p in descendants(1)}, STOP_WITHIN_S, "a child is left"
        )

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(STOP_WITHIN_S)
