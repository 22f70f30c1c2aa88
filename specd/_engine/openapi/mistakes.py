"""Mistakes in documents and handlers: their places, and a report.

Lines are looked up only for mistakes. The files are then parsed again, with marks.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from specd._engine.errors import DocumentError, SourceLocation
from specd._engine.openapi.loading import Bundle, compose, flatten
from specd._engine.openapi.structure import Steps
from specd._engine.printable import printable

MOST = 50
"""The maximum number of mistakes in a report."""
PLACES = 5
"""The maximum number of places of one mistake in a report."""
MAX_CHARACTERS = 4000
"""The maximum length of one mistake in a report."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. `place` is the path in the document, such as `paths./tasks.get.tags[0]`. It is
    empty for a mistake in the file itself or in a handler. Without a file, `file` is the document's
    name, and `line` and `column` are 0. Otherwise they are counted from 1.
    """

    file: str
    line: int
    column: int
    place: str
    message: str

    def __str__(self) -> str:
        spot = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        parts = (part for part in (spot, self.place, self.message) if part)
        return shortened(printable(": ".join(parts)))


class Mistakes(DocumentError):
    """All mistakes of documents and their handlers. The message is the report."""

    def __init__(self, found: Iterable[Mistake]) -> None:
        self.found = in_order(found)
        super().__init__(report(self.found))


def shortened(text: str) -> str:
    """Return a text of at most `MAX_CHARACTERS`."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}..."


def in_order(found: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return each mistake once, sorted by file in order of appearance, and by line. A mistake in a
    shared part counts once.
    """
    by_spot: dict[tuple[object, ...], Mistake] = {}
    for each in found:
        place = "" if each.line else each.place
        by_spot.setdefault((each.file, each.line, each.column, place, each.message), each)
    once = list(by_spot.values())
    files = {file: number for number, file in enumerate(dict.fromkeys(m.file for m in once))}
    return tuple(sorted(once, key=lambda m: (files[m.file], m.line, m.column)))


def report(found: Sequence[Mistake]) -> str:
    """Return a line for each of the first `MOST` mistakes, and the number of others. If one mistake
    is at many places, for example in a generated document, only the first `PLACES` have a line.
    """
    places = Counter(mistake.message for mistake in found)
    seen: Counter[str] = Counter()
    lines: list[str] = []
    named = told = 0
    for mistake in found:
        message = mistake.message
        seen[message] += 1
        if seen[message] > PLACES or named == MOST:
            continue
        lines.append(str(mistake))
        named, told = named + 1, told + 1
        if seen[message] == PLACES < places[message]:
            more = places[message] - PLACES
            lines.append(shortened(f"... and at {more} more places: {printable(message)}"))
            told += more
    if told < len(found):
        lines.append(f"... and {len(found) - told} more")
    return "\n".join(lines)


def place_of(steps: Steps) -> str:
    """Return steps as a readable path: `paths./tasks.get.parameters[0].schema`."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")


def shown(file: Path) -> str:
    """Return the name of a file, relative to the working directory if it is in it."""
    name = os.path.relpath(file)
    return str(file) if name.startswith("..") else name


def of_spot(spot: SourceLocation, message: str, place: str = "") -> Mistake:
    """Return the mistake at a spot of a file, without the spot in its message."""
    for start in (f"{spot.file}:{spot.line}:{spot.column}: ", f"{spot.file}: "):
        message = message.removeprefix(start)
    return Mistake(shown(spot.file), spot.line, spot.column, place, message)


_Members = dict[int, dict[str, tuple[yaml.Node, yaml.Node]]]


class Locator:
    """Finds the lines of the parts of a document in its files."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._roots: dict[Path, yaml.Node] = {}
        self._known: _Members = {}

    def mistake(self, error: DocumentError) -> Mistake:
        """Return an error with the file and line of its place."""
        place = place_of(error.at)
        spot = error.spot or self.spot(error.at)
        return of_spot(spot, str(error), place)

    def spot(self, steps: Steps) -> SourceLocation:
        """Return the place of a part: its key, or the item in its list. For a missing part, return
        the nearest part that contains it.
        """
        best = None
        for file, own in self._candidates(steps):
            mark, left = _mark_of(self._root(file), own, self._known)
            if best is None or not left:
                best = SourceLocation(file, mark.line + 1, mark.column + 1)
            if not left:
                break
        assert best is not None  # the document's own file is always a candidate
        return best

    def _candidates(self, steps: Steps) -> Iterator[tuple[Path, Steps]]:
        """Yield the files that may contain a part, with the steps there, the most likely first."""
        for length in range(len(steps), 0, -1):
            origin = self._bundle.origins.get(steps[:length])
            if origin is not None:
                yield origin[0], (*origin[1], *steps[length:])
        yield self._bundle.path, steps

    def _root(self, file: Path) -> yaml.Node:
        if file not in self._roots:
            self._roots[file] = compose(file)
        return self._roots[file]


def _mark_of(node: yaml.Node, steps: Steps, known: _Members) -> tuple[Any, int]:
    """Return the mark of the part at the end of the steps, or of the last part that exists, and the
    number of missing steps. `known` caches the parts of nodes.
    """
    mark = node.start_mark
    for number, step in enumerate(steps):
        if id(node) not in known:
            known[id(node)] = dict(_members(node))
        found = known[id(node)].get(str(step))
        if found is None:
            return mark, len(steps) - number
        key, node = found
        mark = key.start_mark
    return mark, 0


def _members(node: yaml.Node) -> Iterator[tuple[str, tuple[yaml.Node, yaml.Node]]]:
    """Yield the names or indexes of the parts of a node, each with the nodes of its key and value,
    including parts from merge keys. If parts have the same name, the last one counts.
    """
    if isinstance(node, yaml.SequenceNode):
        yield from ((str(number), (item, item)) for number, item in enumerate(node.value))
    if isinstance(node, yaml.MappingNode):
        flatten(node)
        yield from ((str(key.value), (key, value)) for key, value in node.value)
