"""`specd check` detects each error that is planted in the documents of the services."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import specs
from specd._engine.document.checking import check_file, find_mistakes
from specd._engine.openapi.mistakes import Mistake
from tests.support.marks import in_all
from wsgi import project

MARK = "@@"


class Planted(NamedTuple):
    """An error of `mistakes.yaml`, in a document of ours."""

    document: str
    old: str
    new: str
    says: str
    after: str = ""
    at: str = ""
    alone: bool = False

    def edits(self, text: str) -> list[tuple[int, int, str]]:
        """Return the replacements in the document's text: start, end and new text."""
        start = text.index(self.old, text.index(self.after))
        edits = [(start, start + len(self.old), self.new)]
        if self.at:
            place = text.index(self.at)
            edits.append((place, place, MARK))
        return edits


def plant(text: str, several: Iterable[Planted]) -> tuple[str, dict[Planted, tuple[int, int]]]:
    """Return a text with errors, and the line and the column of each."""
    edits = sorted((*edit, each) for each in several for edit in each.edits(text))
    written, end, places = "", 0, {}
    for start, stop, new, planted in edits:
        assert start >= end, f"two errors at one place: {planted}"
        before, mark, after = new.partition(MARK)
        written += text[end:start] + before
        if mark:
            places[planted] = (written.count("\n") + 1, len(written) - written.rfind("\n"))
        written += after
        end = stop
    return written + text[end:], places


PLANTED = [
    Planted(document, **row)
    for document, rows in yaml.safe_load(
        Path(__file__).with_name("mistakes.yaml").read_text()
    ).items()
    for row in rows
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with copies of our documents, which is the working directory."""
    for name in project.documents:
        (tmp_path / f"{name}.yaml").write_bytes((specs.HERE / f"{name}.yaml").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


TOGETHER = {"payment": 60, "chat": 3}
"""Minimum number of errors planted in each document together."""


def daily(planted: Planted) -> object:
    """Return the value of a parameter, which is limited to `--all`.

    Reading one of these documents takes 0.1 to 2 s, so `test_all_errors_are_in_one_report` plants
    their errors together.
    """
    is_slow = planted.document in TOGETHER and not planted.alone
    return in_all(planted) if is_slow else planted


@pytest.mark.parametrize(
    "planted", [daily(each) for each in PLANTED], ids=lambda planted: planted.says[:40]
)
def test_error_is_found_at_its_place(folder: Path, planted: Planted) -> None:
    file = folder / f"{planted.document}.yaml"
    text, places = plant(file.read_text(), [planted])
    file.write_text(text)
    assert_is_found(planted, file, places[planted], check_file(file))


def assert_is_found(
    planted: Planted, file: Path, place: tuple[int, int], found: Sequence[Mistake]
) -> None:
    matching = [m for m in found if planted.says in m.message]
    assert matching, "\n".join(map(str, found))
    assert (file.name, *place) in [(m.file, m.line, m.column) for m in matching], (
        f"{place}: {matching}"
    )


@pytest.mark.parametrize("name", project.documents)
def test_our_documents_have_no_errors(name: str) -> None:
    assert check_file(specs.HERE / f"{name}.yaml") == ()
    assert find_mistakes(specs.document(name)) == []


@pytest.mark.parametrize(("document", "least"), TOGETHER.items())
def test_all_errors_are_in_one_report(folder: Path, document: str, least: int) -> None:
    together = [each for each in PLANTED if each.document == document and not each.alone]
    assert len(together) >= least
    file = folder / f"{document}.yaml"
    text, places = plant(file.read_text(), together)
    file.write_text(text)
    found = check_file(file)
    for each in together:
        assert_is_found(each, file, places[each], found)
    lines = [mistake.line for mistake in found]
    assert lines == sorted(lines)
    assert {mistake.file for mistake in found} == {file.name}
