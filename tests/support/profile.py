"""Profiles the suite: `scripts/test --profile` loads this plugin.

Each process records its tests: wall-clock seconds, CPU seconds, peak memory, and the seconds of
fixtures and kinds of work, without nested ones. The controller prints the tables, and so does
`python -m tests.support.profile FOLDER` for the records of an earlier run. Seconds of several
processes are added.
"""

from __future__ import annotations

import functools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from specd._db import migrate

DIRECTORY = "SPECD_TEST_PROFILE"
"""The variable with the folder of the records."""

ROWS = 25
DATABASES = frozenset({
    "chat_postgres_copies", "chat_sqlite_template", "database", "database_url", "lent", "places",
    "postgres", "postgres_copies", "postgres_url", "sqlite_template", "sqlite_url",
})  # fmt: skip
"""The fixtures that only set up databases."""
FIXTURE = "fixture "
TEST = "the test itself"

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Note:
    """The cost of a test. `rss` is the peak of its process up to then, in MB."""

    test: str
    seconds: float
    processor: float
    parts: Mapping[str, float]
    rss: int
    outcome: str = ""
    """passed, failed or skipped; empty if it was not recorded."""
    at: float = 0
    """The clock in seconds at its end."""


class Seconds(defaultdict[str, float]):
    """Seconds by name."""

    def __init__(self) -> None:
        super().__init__(float)

    def largest(self, rows: int | None = None) -> list[tuple[str, float]]:
        return sorted(self.items(), key=lambda item: -item[1])[:rows]


class Exclusive:
    """Seconds by name. The time of nested work is excluded."""

    def __init__(self) -> None:
        self.seconds = Seconds()
        self._inside = [0.0]
        self._thread = threading.get_ident()

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        if threading.get_ident() != self._thread:
            yield
            return
        began = time.perf_counter()
        self._inside.append(0.0)
        try:
            yield
        finally:
            passed = time.perf_counter() - began
            self.seconds[name] += passed - self._inside.pop()
            self._inside[-1] += passed

    def measured(self, name: str, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, measured under a name."""

        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            with self.measure(name):
                return function(*args, **keywords)

        return call


@dataclass(eq=False)
class Recorder:
    """Writes the records of one process."""

    path: Path
    work: Exclusive = field(default_factory=Exclusive)
    patch: pytest.MonkeyPatch = field(default_factory=pytest.MonkeyPatch)
    outcome: str = "passed"

    def pytest_sessionstart(self) -> None:
        for name, owner, attribute in (
            ("migrations", migrate, "upgrade"),
            ("starting processes", subprocess.Popen, "__init__"),
            ("waiting for processes", subprocess.Popen, "wait"),
            ("sleeping", time, "sleep"),
        ):
            measured = self.work.measured(name, getattr(owner, attribute))
            self.patch.setattr(owner, attribute, measured)

    def pytest_sessionfinish(self) -> None:
        self.patch.undo()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        with self.work.measure(f"{FIXTURE}{fixturedef.argname}"):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed" and self.outcome != "failed":
            self.outcome = report.outcome

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if "::" not in item.nodeid:
            return (yield)  # a module, whose tests follow
        self.work.seconds.clear()
        self.outcome = "passed"
        began, used = time.perf_counter(), _processor()
        try:
            return (yield)
        finally:
            note = Note(
                test=item.nodeid,
                seconds=time.perf_counter() - began,
                processor=_processor() - used,
                parts=dict(self.work.seconds),
                rss=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                outcome=self.outcome,
                at=time.time(),
            )
            with self.path.open("a") as file:
                file.write(json.dumps(asdict(note)) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(os.environ[DIRECTORY])
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    if worker == "main" and config.getoption("numprocesses", None):
        return  # the controller runs no tests
    config.pluginmanager.register(Recorder(folder / f"{worker}.jsonl"), "profile-recorder")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in tables(read_notes(Path(os.environ[DIRECTORY]))):
        terminalreporter.write_line(line)


def read_notes(folder: Path) -> dict[str, list[Note]]:
    """Return the records of each process of a run."""
    return {
        path.stem: [Note(**json.loads(line)) for line in path.read_text().splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
        if path.stat().st_size
    }


def tables(processes: Mapping[str, Sequence[Note]]) -> Iterator[str]:
    """Yield the lines of the tables, in Markdown."""
    notes = [note for of_one in processes.values() for note in of_one]
    yield from _by_process(processes)
    yield from _costs("folder", notes, _folder)
    yield from _costs("module", notes, lambda note: note.test.partition("::")[0], ROWS)
    fixtures, kinds, slowest = Seconds(), Seconds(), Seconds()
    for note in notes:
        slowest[note.test] += note.seconds
        kinds[TEST] += note.seconds - sum(note.parts.values())
        for name, seconds in note.parts.items():
            fixture = name.removeprefix(FIXTURE)
            if fixture == name:
                kinds[name] += seconds
            else:
                fixtures[fixture] += seconds
                is_database = fixture in DATABASES
                kinds["set-up of databases" if is_database else "other fixtures"] += seconds
    yield from _seconds("fixture", fixtures, ROWS)
    yield from _seconds("kind of work", kinds)
    yield from _seconds("slowest test", slowest, ROWS)


def _folder(note: Note) -> str:
    file = note.test.partition("::")[0]
    return file.split("/")[1] if file.count("/") > 1 else "of no folder"


def _by_process(processes: Mapping[str, Sequence[Note]]) -> Iterator[str]:
    yield from ("", "| process | tests | passed | failed | skipped | seconds | peak MB |")
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for process, notes in processes.items():
        counts = Counter(note.outcome for note in notes)
        outcomes = " | ".join(
            "not noted" if counts[""] else str(counts[outcome])
            for outcome in ("passed", "failed", "skipped")
        )
        seconds = sum(note.seconds for note in notes)
        peak = max(note.rss for note in notes)
        yield f"| {process} | {len(notes)} | {outcomes} | {seconds:.0f} | {peak} |"
    notes = [note for of_one in processes.values() for note in of_one if note.at]
    if notes:
        passed = max(note.at for note in notes) - min(note.at - note.seconds for note in notes)
        yield from ("", f"Wall time of the tests: {passed:.0f} seconds.")


def _costs(
    title: str, notes: Sequence[Note], name: Callable[[Note], str], rows: int | None = None
) -> Iterator[str]:
    tests: Counter[str] = Counter()
    seconds, processor = Seconds(), Seconds()
    for note in notes:
        tests[name(note)] += 1
        seconds[name(note)] += note.seconds
        processor[name(note)] += note.processor
    yield from ("", f"| {title} | tests | seconds | processor seconds | ms each |")
    yield "|---|---:|---:|---:|---:|"
    for key, spent in seconds.largest(rows):
        each = 1000 * spent / tests[key]
        yield f"| {key} | {tests[key]} | {spent:.1f} | {processor[key]:.1f} | {each:.0f} |"


def _seconds(title: str, spent: Seconds, rows: int | None = None) -> Iterator[str]:
    yield from ("", f"| {title} | seconds |", "|---|---:|")
    for name, seconds in spent.largest(rows):
        yield f"| {name} | {seconds:.1f} |"


def _processor() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    print("\n".join(tables(read_notes(Path(sys.argv[1])))))
