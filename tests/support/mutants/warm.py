"""A process that has imported the libraries, and runs test modules in forks.

It reads one request per line and writes one response per line. Only libraries are imported before a
fork, so that each fork imports the product with the mutant.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

LIBRARIES = (
    "alembic.command", "argon2", "click", "connexion", "cryptography.x509", "eth_abi", "flask",
    "gunicorn.app.base", "httpcore", "httpx", "jsonschema_rs", "markdown_it", "nh3", "openapi_core",
    "openapi_spec_validator", "orjson", "PIL.Image", "prometheus_client", "psycopg", "pygments",
    "re2", "rich.console", "sqlalchemy.dialects.postgresql", "sqlalchemy.orm", "structlog",
    "tenacity", "uvicorn", "web3",
)  # fmt: skip
IMPORTED = ("-W", "ignore:Module already imported so cannot be rewritten")
"""pytest cannot rewrite assertions of libraries that are also its plugins."""
GRACE_S = 20
HUNG_S = 45.0
"""A test is hung if it has run at least this long when the time is over. Others take seconds."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Test modules or tests to run in this order, for at most some seconds."""

    tests: list[str]
    seconds: float
    stop: bool = True
    """Whether the first failure ends the run."""
    passed: list[str] = field(default_factory=list)
    """Tests that need not run again."""


@dataclass(kw_only=True)
class Report:
    """The result of a request."""

    seconds: float = 0
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    hung: str = ""
    """The test that did not end."""
    broken: str = ""
    """Why no test ran: the end of the output."""
    is_complete: bool = False


class _Watcher:
    """Records results, and sorts the tests: modules in the requested order, SQLite first."""

    def __init__(self, request: Request, notes: Path) -> None:
        self._places = {test: number for number, test in enumerate(request.tests)}
        self._passed = set(request.passed)
        self._notes = notes.open("w", buffering=1)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        last = len(self._places)

        def place(item: pytest.Item) -> tuple[int, bool]:
            module = item.nodeid.partition("::")[0]
            return self._places.get(module, last), "postgresql" in item.nodeid

        items[:] = sorted((i for i in items if i.nodeid not in self._passed), key=place)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note("failed", report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._note("began", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note("failed", report.nodeid)
        elif report.when == "teardown":
            self._note("passed", report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._note("ended", "")

    def _note(self, event: str, nodeid: str) -> None:
        self._notes.write(json.dumps([event, nodeid, time.monotonic()]) + "\n")


def main() -> None:
    """Answer requests until the input ends. The argument is the folder for notes and output."""
    folder = Path(sys.argv[1])
    sys.path.pop(0)  # the folder of this file
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    assert threading.active_count() == 1, "a fork would lose threads"
    for line in sys.stdin:
        report = run(Request(**json.loads(line)), folder)
        print(json.dumps(asdict(report)), flush=True)


def run(request: Request, folder: Path) -> Report:
    """Run the tests in a fork."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        _run_in_fork(request, folder)
    status = _wait(child, began + request.seconds)
    is_late = status is None
    if is_late:
        os.kill(child, signal.SIGINT)  # fixtures stop what they have started
        if _wait(child, time.monotonic() + GRACE_S) is None:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    report = _read(folder, is_late=is_late)
    report.seconds = time.monotonic() - began
    return report


def _run_in_fork(request: Request, folder: Path) -> None:
    os.setsid()
    # A shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, output, output)):
        os.dup2(file, number)
    status = 70
    try:
        words = [
            *request.tests,
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "--tb=short",
            *IMPORTED,
        ]
        watcher = _Watcher(request, folder / "notes")
        status = int(pytest.main([*words, *(["-x"] if request.stop else [])], plugins=[watcher]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(child: int, deadline: float) -> int | None:
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.02)
    return None


def _read(folder: Path, *, is_late: bool) -> Report:
    report = Report()
    running, since, ended = "", 0.0, False
    for line in (folder / "notes").read_text().splitlines():
        event, nodeid, moment = json.loads(line)
        if event == "began":
            running, since = nodeid, moment
        elif event == "failed" and nodeid not in report.failed:
            report.failed.append(nodeid)
            running = ""
        elif event == "passed":
            running = ""
            if nodeid not in report.failed:
                report.passed.append(nodeid)
        elif event == "ended":
            ended = True
    if is_late:
        if running and time.monotonic() - since > HUNG_S:
            report.hung = running
        report.failed = [test for test in report.failed if test != running]
    elif not ended or (not report.failed and not report.passed):
        report.broken = (folder / "output").read_text(errors="replace")[-2000:]
    report.is_complete = not is_late
    return report


if __name__ == "__main__":
    main()
