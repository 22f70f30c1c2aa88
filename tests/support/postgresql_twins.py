"""Skips tests on PostgreSQL that would repeat what other tests have shown.

A test of a handler, or of a step of the watcher, runs on SQLite and then, as its twin, on
PostgreSQL. Parsing, validation and rules are the same on both; statements differ. So the daily run
skips the twin if the test on SQLite did nothing that no earlier test of its module did: no other
statement, no value of another kind in it (a NULL, a number beyond 32 bits, a text that is not
ASCII), no other failure of it, no other status or error code of an operation, no simultaneous
requests. A test with statements only for PostgreSQL, or that starts threads or processes, is marked
`both_databases`. `--all` runs every twin.

The choice needs no list. It depends only on earlier tests in the same module and process: if a
module is divided between processes, or a test runs alone, more twins run and never fewer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.engine.default import DefaultDialect

from specd._db import prepared
from tests.support.app import ServiceApp

FOLDERS = (
    "tests/cli/test_payment_commands.py", "tests/cli/test_payment_export.py",
    "tests/cli/test_payment_tokens.py",
    "tests/handlers/", "tests/contract/authorization/", "tests/contract/inert_text/",
    "tests/models/payment/test_accounts.py",
    # One worker only. Several workers run on both: tests/workers/test_watcher_interleavings.py.
    "tests/workers/test_bot_webhooks.py", "tests/workers/test_chain_watcher.py",
    "tests/workers/test_counted_transfers.py", "tests/workers/test_hostile_archives.py",
    "tests/workers/test_imports.py", "tests/workers/test_invoice_expiry.py",
    "tests/workers/test_refuted_logs.py", "tests/workers/test_retention.py",
    "tests/workers/test_scenario_runs.py", "tests/workers/test_scheduled_delivery.py",
    "tests/workers/test_taken_back.py", "tests/workers/test_unreadable_blocks.py",
    "tests/workers/test_webhooks.py", "tests/workers/test_witnesses.py",
    "tests/workers/test_zulip_imports.py",
)  # fmt: skip
"""Folders and modules."""
REASON = "does nothing that PostgreSQL has not done in this module; --all runs it"

_LISTS = re.compile(r"\?(?:\s*,\s*\?)+|\(\?\)(?:\s*,\s*\(\?\))+")
_WORD = re.compile(r"[a-z_]+")

Deed = tuple[object, ...]


class Watch:
    """The deeds of the current test: statements with the kinds of their values, and responses.

    They are recorded only while `is_on`.
    """

    def __init__(self) -> None:
        self.is_on = True
        self.deeds: set[Deed] = set()
        self._shapes: dict[str, str] = {}

    def begin(self, *, is_on: bool) -> None:
        """Start recording for another test."""
        self.is_on = is_on
        self.deeds = set()

    def note(self, statement: str, parameters: object) -> str:
        """Add a statement. Return its shape."""
        shape = self._shapes.get(statement)
        if shape is None:
            shape = _LISTS.sub("?", statement)
            self._shapes[statement] = shape
        self.deeds.add((shape,))
        self.deeds.update((shape, kind) for kind in _kinds(parameters))
        return shape

    def noting(self, function: Callable[..., Any], at: int) -> Callable[..., Any]:
        """Wrap a function whose argument `at` is a statement, followed by its parameters."""

        def noted(*arguments: Any, **named: Any) -> Any:
            if not self.is_on:
                return function(*arguments, **named)
            parameters = arguments[at + 1] if len(arguments) > at + 1 else ()
            shape = self.note(arguments[at], parameters)
            try:
                return function(*arguments, **named)
            except Exception as error:
                self.deeds.add((shape, type(error).__name__))
                raise

        return noted

    def send(self, requests: Sequence[httpx.Request]) -> None:
        """Record simultaneous requests as a unique deed, because only PostgreSQL has
        their locks.
        """
        if len(requests) > 1:
            self.deeds.add(("together", object()))

    def respond(self, request: httpx.Request, response: httpx.Response, code: str | None) -> None:
        path = request.url.path.split("/")
        template = tuple(part if _WORD.fullmatch(part) else "*" for part in path)
        self.deeds.add((request.method, template, response.status_code, code))


def _kinds(value: object) -> Iterable[str]:
    """Yield the kind of a value, or of each value in it, that databases may treat differently."""
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        yield _kind(value)
        return
    for each in value:
        yield from _kinds(each)


def _kind(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int):
        return f"{8 * ((value.bit_length() + 8) // 8)} bits" if value.bit_length() > 31 else "int"
    if isinstance(value, str):
        if "\0" in value:
            return "NUL"
        return ("" if value else "empty ") + ("text" if value.isascii() else "other text")
    return type(value).__name__


class Twins:
    """Selects tests on PostgreSQL. `watch` has the deeds of the current test."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._module: Path | None = None
        self._known: set[Deed] = set()
        self._done: dict[str, set[Deed]] = {}
        """Passed test on SQLite -> its deeds."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if item.path != self._module:
            self._module = item.path
            self._known.clear()
            self._done.clear()
        self._watch.begin(is_on=item.nodeid.startswith(FOLDERS))
        if not item.nodeid.startswith(FOLDERS) or item.get_closest_marker("both_databases"):
            return
        twin = sqlite_twin(item.nodeid)
        done = self._done.pop(twin, None) if twin else None
        if done is None:
            return
        if done <= self._known:
            pytest.skip(REASON)
        self._known |= done
        self._watch.is_on = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        yield
        self._done[item.nodeid] = self._watch.deeds


def sqlite_twin(nodeid: str) -> str | None:
    """Return the id of the same test on SQLite, or None if the test is not on PostgreSQL."""
    name, bracket, values = nodeid.partition("[")
    parts = values.removesuffix("]").split("-")
    if "postgresql" not in parts:
        return None
    parts[parts.index("postgresql")] = "sqlite"
    return f"{name}{bracket}{'-'.join(parts)}]"


def watching() -> Watch:
    """Return a new watch that records every statement and response from now on."""
    watch = Watch()
    for name in ("do_execute", "do_executemany", "do_execute_no_params"):
        setattr(DefaultDialect, name, watch.noting(getattr(DefaultDialect, name), 2))
    functions: Sequence[str] = ("fetch", "fetch_some", "count")
    for name in functions:
        setattr(prepared, name, watch.noting(getattr(prepared, name), 1))
    ServiceApp.listeners.append(watch)
    return watch


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--all"):
        config.pluginmanager.register(Twins(watching()), "postgresql-twins")
