"""`scripts/test --profile` prints where the time was spent."""

import time
from pathlib import Path

from tests.support.profile import Exclusive, Note, read_notes, tables


def test_nested_work_is_subtracted() -> None:
    work = Exclusive()
    began = time.perf_counter()
    with work.measure("outer"), work.measure("inner"):
        sum(range(100_000))
    passed = time.perf_counter() - began
    assert 0 < work.seconds["outer"] < work.seconds["inner"] < passed
    assert sum(work.seconds.values()) <= passed


def test_tables_add_processes_and_distinguish_kinds() -> None:
    parts = {"fixture database": 1.0, "fixture clock": 0.5, "sleeping": 2.0}
    note = Note(
        test="tests/a/test_b.py::test_c[x/y]", seconds=4.0, processor=1.0, parts=parts, rss=100,
        outcome="passed", at=1000.0,
    )  # fmt: skip
    printed = list(tables({"gw0": [note], "gw1": [note]}))
    assert "| gw0 | 1 | 1 | 0 | 0 | 4 | 100 |" in printed
    assert "| a | 2 | 8.0 | 2.0 | 4000 |" in printed
    assert "| tests/a/test_b.py | 2 | 8.0 | 2.0 | 4000 |" in printed
    assert "| set-up of databases | 2.0 |" in printed
    assert "| other fixtures | 1.0 |" in printed
    assert "| sleeping | 4.0 |" in printed
    assert "| the test itself | 1.0 |" in printed


def test_records_without_an_outcome_are_read(tmp_path: Path) -> None:
    (tmp_path / "gw0.jsonl").write_text(
        '{"test": "tests/test_a.py::test_b", "seconds": 1, "processor": 1, "parts": {}, "rss": 9}\n'
    )
    (tmp_path / "main.jsonl").write_text("")
    assert any("not noted" in line for line in tables(read_notes(tmp_path)))
