"""A document that borrows components of its neighbours, made to stand alone.

A document may refer to `payment.yaml#/components/schemas/Invoice`, and so say nothing twice. Before
the text is read or published, each such component is copied into it, letter for letter, with every
component that one needs; the references then point into the document itself. Where the document has
a component of that name of its own, its own one stands in for the neighbour's.

The layout is the one of every document here: `components` has kinds at two spaces and names at
four.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

_BORROWED = re.compile(r"\b([a-z][a-z0-9-]*)\.yaml(#/components/(\w+)/(\w+))")
_OWN = re.compile(r'"#/components/(\w+)/(\w+)"')
_ADOPTED = re.compile(
    r'^    (\w+): \{\$ref: "([a-z][a-z0-9-]*)\.yaml#/components/(\w+)/\1"\}\n', re.MULTILINE
)
"""A component that is nothing but the neighbour's of the same name."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Part = tuple[str, str]
"""The kind of a component, such as `schemas`, and its name."""


def bundle(text: str, read: Callable[[str], str]) -> str:
    """The document without references to others; `read(name)` is a neighbour's text.

    Raises `KeyError` for a component that the neighbour lacks.
    """
    waiting = [(found[1], (found[3], found[4])) for found in _BORROWED.finditer(text)]
    if not waiting:
        return text
    neighbours = {name: _components(read(name)) for name in {name for name, _ in waiting}}
    text = _ADOPTED.sub(lambda found: neighbours[found[2]][found[3], found[1]], text)
    own = _components(text)
    added: dict[str, dict[str, str]] = {}
    while waiting:
        name, (kind, component) = waiting.pop(0)
        if (kind, component) not in own and component not in added.get(kind, {}):
            source = neighbours[name][kind, component]
            added.setdefault(kind, {})[component] = source
            waiting += [(name, (found[1], found[2])) for found in _OWN.finditer(source)]
    for kind, components in added.items():
        text = _insert(text, kind, "".join(components[one] for one in sorted(components)))
    return _BORROWED.sub(r"\2", text)


def _components(text: str) -> dict[Part, str]:
    """The lines of each component of a document."""
    lines = text.splitlines(keepends=True)
    return {
        (kind, name): "".join(lines[start:end])
        for kind, names in _sections(text).items()
        for name, (start, end) in names.items()
    }


def _sections(text: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Kind -> name -> the first line of a component and the one behind its last."""
    lines = text.splitlines()
    root: Any = yaml.compose(text, Loader=_LOADER)
    kinds = next(value.value for key, value in root.value if key.value == "components")
    names = {kind.value: [name for name, _ in held.value] for kind, held in kinds}
    starts = [key.start_mark.line for key, _ in (*root.value, *kinds)]
    starts += [name.start_mark.line for held in names.values() for name in held]

    def end_of(line: int) -> int:
        end = min((start for start in starts if start > line), default=len(lines))
        while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
            end -= 1  # what stands before the next thing is about that
        return end

    return {
        kind: {name.value: (name.start_mark.line, end_of(name.start_mark.line)) for name in held}
        for kind, held in names.items()
    }


def _insert(text: str, kind: str, source: str) -> str:
    """The document with components behind those that it has of that kind, else with the kind."""
    lines = text.splitlines(keepends=True)
    sections = _sections(text)
    if kind not in sections:
        source = f"\n  {kind}:\n{source}"
    among = [sections[kind]] if kind in sections else list(sections.values())
    end = max(end for names in among for _, end in names.values())
    return "".join([*lines[:end], source, *lines[end:]])
