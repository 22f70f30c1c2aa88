"""The measurements of one checkout. All processes are new; the files that they read are cached."""

import http.client
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.load.checkout import Checkout
from benchmarks.load.processes import free_port
from benchmarks.start.processes import Running, argv

LOOK_S = 0.005
REST_S = 1.0
PATIENCE_S = 120
REQUESTS = 10
PATHS = {"payment": "/v1/payment-methods", "chat": "/api/v1/server_settings"}
Round = dict[str, float]


class Deployment:
    """A checkout with separate databases, which are migrated once."""

    def __init__(self, checkout: Checkout, directory: Path) -> None:
        self.checkout = checkout
        self.directory = directory
        directory.mkdir()
        self.run(["migrate"])

    def settings(self, **more: str) -> Mapping[str, str]:
        return {
            "SPECD_DATA_DIR": str(self.directory / "data"),
            "SPECD_METRICS_DIR": str(self.directory / "metrics"),
            **more,
        }

    def run(self, arguments: Sequence[str]) -> Round:
        """Run a command. Return its wall-clock seconds and CPU seconds."""
        began = time.perf_counter()
        process = subprocess.Popen(
            argv(arguments),
            cwd=self.checkout.root,
            env=self.checkout.environment(self.settings()),
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"specd {' '.join(arguments)} failed")
        return {
            "wall_s": time.perf_counter() - began,
            "cpu_s": usage.ru_utime + usage.ru_stime,
        }

    def serve(self, only: str | None) -> Round:
        """Start a server. Measure the time to its first response, and its idle memory after
        requests.
        """
        port = free_port()
        arguments = ["serve", *(["--only", only] if only else [])]
        bind = self.settings(SPECD_BIND=f"127.0.0.1:{port}")
        began = time.perf_counter()
        with Running(self.checkout, arguments, bind, self.directory / "serve.log") as server:
            while answered(port, "/readyz") != 200:
                server.require_alive()
                time.sleep(LOOK_S)
            taken = {"wall_s": time.perf_counter() - began, "cpu_s": server.cpu_seconds()}
            for path in (PATHS[only],) if only else PATHS.values():
                for _ in range(REQUESTS):
                    answered(port, path)
            wait_for_rest(server)
            master, *workers = server.memory()
            return {
                **taken,
                "later_cpu_s": server.cpu_seconds() - taken["cpu_s"],
                "master_rss": master.rss,
                "master_pss": master.pss,
                "worker_rss": max(each.rss for each in workers),
                "worker_pss": max(each.pss for each in workers),
            }

    def demo(self) -> Round:
        """Measure the demo, as started by `scripts/run` after installation, until it is ready."""
        port, chain = free_port(), free_port()
        env = self.settings(
            SPECD_DATA_DIR=str(self.directory / "demo"),
            SPECD_BIND=f"127.0.0.1:{port}",
            SPECD_CHAIN_PORT=str(chain),
        )
        began = time.perf_counter()
        log = self.directory / "demo.log"
        with Running(self.checkout, ["demo", "--json"], env, log) as running:
            while '{"base_url"' not in running.output():
                running.require_alive()
                if time.perf_counter() - began > PATIENCE_S:
                    sys.exit(f"the demo is not ready:\n{running.output()}")
                time.sleep(LOOK_S)
            return {"wall_s": time.perf_counter() - began, "cpu_s": running.cpu_seconds()}

    def imports(self) -> Counter[str]:
        """Return the milliseconds that each package takes itself in an application's import."""
        done = subprocess.run(
            [sys.executable, "-P", "-X", "importtime", "-c", "import wsgi; wsgi.app"],
            cwd=self.checkout.root,
            env=self.checkout.environment(self.settings()),
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
        spent: Counter[str] = Counter()
        for taken, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \| +([\w]+)", done.stderr):
            spent[name] += int(taken) / 1000  # type: ignore[assignment]
        return spent


def answered(port: int, path: str) -> int:
    """Return the status of a response on a new connection, or 0 if no server listens."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0


def wait_for_rest(server: Running) -> None:
    """Wait until the server has used almost no CPU time for a second."""
    before = -1.0
    while (spent := server.cpu_seconds()) > before + 0.03:
        before = spent
        time.sleep(REST_S)
