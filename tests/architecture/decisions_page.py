"""The index of decisions, docs/decisions/README.md, generated from the heads of the records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/decisions/README.md"
HEAD = """# Decisions

For contributors: what was decided, why, and what else was tried. A record is kept current. When a
decision is replaced, its record is merged into the one that replaces it, so some numbers are
missing. To add a record, copy [template.md](template.md), take the next number and run
`scripts/decisions-index`, which writes this page.
"""
_RECORD = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"Date: (?P<date>\d{4}-\d\d-\d\d)\.\n\n## Context\n"
)


@dataclass(frozen=True, slots=True)
class Record:
    """The head of a record."""

    path: Path
    number: int
    title: str
    date: str


def read(path: Path) -> Record:
    """Return the head of a record. Raises `ValueError` if it does not match the template."""
    head = _RECORD.match(path.read_text())
    if not head:
        raise ValueError(f"{path.name} does not begin like docs/decisions/template.md")
    return Record(path, int(head["number"]), head["title"], head["date"])


def records() -> list[Record]:
    """Return all records, sorted by number."""
    return [read(path) for path in sorted(PAGE.parent.glob("[0-9]*.md"))]


def rendered() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *_table(records())]) + "\n"


def _table(found: list[Record]) -> Iterator[str]:
    yield "| number | decision | date |"
    yield "|---:|---|---|"
    for record in found:
        link = f"[{record.title}]({record.path.name})"
        yield f"| {record.number} | {link} | {record.date} |"
