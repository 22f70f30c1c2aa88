"""Messages about mistakes: the nearest correct word, and the fault of a reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from specd._engine.openapi.structure import Steps, steps_of

_NEAR = 0.6
_MANY = 200
_LONGEST = 200
_VERY_NEAR = 0.8


def nearest(word: Any, words: Iterable[str], *, very: bool = False) -> str | None:
    """Return the word that the author probably meant by `word`, or None if no word is near (or
    `very` near).
    """
    small = str(word).lower()[:_LONGEST]
    by_small = {each.lower(): each for each in words if len(each) <= _LONGEST}
    among: Iterable[str] = by_small
    if len(by_small) > _MANY:  # all would take seconds per wrong word in large documents
        alike = (it for it in by_small if it[:2] == small[:2] and abs(len(it) - len(small)) < 3)
        among = list(islice(alike, _MANY))
    cutoff = _VERY_NEAR if very else _NEAR
    found = get_close_matches(small, among, n=1, cutoff=cutoff)
    return by_small[found[0]] if found else None


def did_you_mean(word: Any, words: Iterable[str]) -> str:
    """Return `; did you mean "..."?` with the nearest word, or an empty text."""
    found = nearest(word, words)
    return "" if found is None else f'; did you mean "{found}"?'


def listed(words: Iterable[Any], joint: str = "or") -> str:
    """Return `a, b or c`."""
    *most, last = map(str, words)
    return f"{', '.join(most)} {joint} {last}" if most else last


def points_nowhere(reference: str, content: Any, fragment: str) -> str:
    """Return the message about a reference whose fragment has no target in `content`."""
    node, steps = content, steps_of(fragment)
    for number, step in enumerate(steps):
        found = child(node, step)
        if found is NOTHING:
            names = node.keys() if isinstance(node, Mapping) else ()
            right = nearest(step, names)
            if right is None:
                return f'"{reference}" points nowhere: there is no "{step}"'
            start = "".join(f"/{_escaped(each)}" for each in (*steps[:number], right))
            rest = steps[number + 1 :]
            if reach(node[right], rest) is not NOTHING:
                start += "".join(f"/{_escaped(each)}" for each in rest)
            file = reference.partition("#")[0]
            return f'"{reference}" points nowhere; did you mean "{file}#{start}"?'
        node = found
    return f'"{reference}" points nowhere'


def reach(content: Any, steps: Steps) -> Any:
    """Return the part at the end of the steps, or `NOTHING`."""
    node = content
    for step in steps:
        node = child(node, step)
        if node is NOTHING:
            break
    return node


NOTHING = object()


def child(node: Any, step: str | int) -> Any:
    """Return the part of a node at a step, or `NOTHING`."""
    if isinstance(node, Mapping):
        return node.get(step, NOTHING)
    if isinstance(node, list) and str(step).isdecimal() and int(step) < len(node):
        return node[int(step)]
    return NOTHING


def _escaped(step: Any) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")
