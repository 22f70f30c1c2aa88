"""docs/decisions/README.md: the index, written from the heads of the records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/decisions/README.md"
HEAD = """# Decisions

Each record says what was decided, when and why. Names of files and settings in a record are kept
current. What was decided is not rewritten: a later record supersedes it, and the status says so. To
add a record, copy [template.md](template.md), take the next number and run
`scripts/decisions-index`, which writes this page.
"""
_RECORD = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"Date: (?P<date>\d{4}-\d\d-\d\d)\. Status: (?P<status>[^\n]+)\.\n\n## Context\n"
)
STATUS = re.compile(r"accepted|superseded( in part)? by (?P<by>\d+(, \d+)*( and \d+)?)")


@dataclass(frozen=True, slots=True)
class Record:
    """The head of one record. `superseded_by`: numbers of later records, often none."""

    path: Path
    number: int
    title: str
    date: str
    status: str
    superseded_by: tuple[int, ...]


def read(path: Path) -> Record:
    """Raises `ValueError` for a record whose head is not the template's."""
    head = _RECORD.match(path.read_text())
    status = head and STATUS.fullmatch(head["status"])
    if not head or not status:
        raise ValueError(f"{path.name} does not begin like docs/decisions/template.md")
    by = tuple(map(int, re.findall(r"\d+", status["by"] or "")))
    return Record(path, int(head["number"]), head["title"], head["date"], head["status"], by)


def records() -> list[Record]:
    """Every record, by number."""
    return [read(path) for path in sorted(PAGE.parent.glob("[0-9]*.md"))]


def rendered() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_table(records())]) + "\n"


def _table(found: list[Record]) -> Iterator[str]:
    yield "| number | decision | date | status |"
    yield "|---:|---|---|---|"
    by_number = {record.number: record for record in found}
    for number in range(1, max(by_number) + 1):
        record = by_number.get(number)
        if record is None:
            yield f"| {number} | number not used | | |"
        else:
            link = f"[{record.title}]({record.path.name})"
            yield f"| {number} | {link} | {record.date} | {record.status} |"
