"""Selection of the tests that the daily run executes on PostgreSQL."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.postgresql_twins import FOLDERS, Twins, Watch, sqlite_twin

MODULE = f"{FOLDERS[0]}chat/test_things.py"


@dataclass
class Item:
    """The attributes of a test that the selection reads."""

    nodeid: str
    path: Path
    marks: tuple[str, ...] = ()

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


class Run:
    """Runs tests of a module, each on SQLite and then on PostgreSQL."""

    def __init__(self) -> None:
        self.watch = Watch()
        self.twins = Twins(self.watch)

    def has_twin(
        self, name: str, *done: tuple[str, Any], module: str = MODULE, **more: Any
    ) -> bool:
        """Return whether the test that executes these statements runs on PostgreSQL."""
        self.play(f"{module}::{name}[sqlite]", done, module, **more)
        try:
            self.play(f"{module}::{name}[postgresql]", done, module, **more)
        except pytest.skip.Exception:
            return False
        return True

    def play(self, nodeid: str, done: Any, module: str, **more: Any) -> None:
        item = cast(pytest.Item, Item(nodeid, Path(module), **more))
        self.twins.pytest_runtest_setup(item)
        call = self.twins.pytest_runtest_call(item)
        next(call)
        for statement, parameters in done:
            self.watch.note(statement, parameters)
        with pytest.raises(StopIteration):
            next(call)


def test_only_new_statements_run_on_postgresql() -> None:
    run = Run()
    assert run.has_twin("test_first", ("SELECT a WHERE id = ?", (1,)))
    assert not run.has_twin("test_same", ("SELECT a WHERE id = ?", (2,)))
    assert run.has_twin("test_statement", ("SELECT b WHERE id = ?", (1,)))
    assert not run.has_twin("test_list", ("SELECT a WHERE id = ?, ?", (1, 2)))


@pytest.mark.parametrize("value", [None, True, 2**31, 2**63, "", "a", "é", "a\0", b"a", 1.5])
def test_each_kind_of_value_runs_on_postgresql(value: object) -> None:
    run = Run()
    assert run.has_twin("test_first", ("SELECT ?", (1,)))
    assert run.has_twin("test_value", ("SELECT ?", (value,)))
    assert not run.has_twin("test_again", ("SELECT ?", {"named": [value, 7]}))


def test_marked_test_runs_on_postgresql() -> None:
    run = Run()
    assert run.has_twin("test_first", ("SELECT ?", (1,)))
    assert run.has_twin("test_marked", ("SELECT ?", (1,)), marks=("both_databases",))


def test_each_module_starts_without_history() -> None:
    run = Run()
    assert run.has_twin("test_first", ("SELECT ?", (1,)))
    other = MODULE.replace("things", "others")
    assert run.has_twin("test_first", ("SELECT ?", (1,)), module=other)


def test_other_folder_runs_on_both() -> None:
    run = Run()
    module = "tests/models/test_things.py"
    assert run.has_twin("test_first", ("SELECT ?", (1,)), module=module)
    assert run.has_twin("test_same", ("SELECT ?", (1,)), module=module)


def test_test_alone_runs_on_postgresql() -> None:
    run = Run()
    run.play(f"{MODULE}::test_first[postgresql]", (), MODULE)


def test_failing_statement_is_recorded() -> None:
    watch = Watch()

    def fail(connection: object, statement: str, parameters: object) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        watch.noting(fail, 1)("connection", "SELECT 1", ())
    assert ("SELECT 1", "KeyError") in watch.deeds


def test_simultaneous_requests_are_always_new() -> None:
    watch = Watch()
    request = cast(Any, object())
    watch.send([request])
    assert watch.deeds == set()
    watch.send([request, request])
    first, watch.deeds = watch.deeds, set()
    watch.send([request, request])
    assert not watch.deeds <= first


@pytest.mark.parametrize(
    ("nodeid", "twin"),
    [
        ("m.py::test_a[postgresql]", "m.py::test_a[sqlite]"),
        ("m.py::test_a[1-postgresql-b-c]", "m.py::test_a[1-sqlite-b-c]"),
        ("m.py::test_a[sqlite]", None),
        ("m.py::test_postgresql", None),
    ],
)
def test_twin_differs_only_in_the_database(nodeid: str, twin: str | None) -> None:
    assert sqlite_twin(nodeid) == twin
