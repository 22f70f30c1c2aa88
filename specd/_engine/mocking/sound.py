"""Mocks the part of a wrong document that has no mistakes: the operations that no mistake affects.

Users of a mock cannot repair the documents of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specd._engine.document.checking import find_faults
from specd._engine.errors import DocumentError
from specd._engine.mocking.service import build_mock
from specd._engine.openapi.loading import Bundle
from specd._engine.openapi.mistakes import Locator, Mistake, Mistakes, place_of
from specd._engine.openapi.structure import (
    METHODS,
    OBJECTS,
    Steps,
    lookup,
    resolved,
    steps_of,
    walk,
)
from specd._engine.openapi.union import Document

_AROUND = ("info", "tags", "servers", "security", "externalDocs")
"""Parts of a document that a mock can do without."""
_LEFT_OUT = "x-left-out"
"""The key of a served document under which it has parts of left-out operations that others refer
to.
"""


@dataclass(frozen=True, slots=True)
class Partial:
    """A mock of the correct parts of documents: the application, the documents as they are served,
    all mistakes, and the operations that are left out, such as `GET /pets`.
    """

    app: Any
    documents: Sequence[Document]
    mistakes: Sequence[Mistake]
    left_out: Sequence[str]


def build_partial_mock(files: Sequence[Path]) -> Partial:
    """Return a mock of the operations that no mistake affects. Raise `Mistakes` if there are none,
    or `DocumentError` for a file that cannot be read.
    """
    documents, mistakes, left_out = [], [], []
    for file in files:
        bundle = Bundle(file)
        faults = [
            *bundle.faults,
            *find_faults(bundle.content, is_thorough=False, has_defaults=False),
        ]
        locator = Locator(bundle)
        mistakes += [locator.mistake(fault) for fault in faults]
        content, without = _without(bundle.content, [fault.at for fault in faults])
        left_out += without
        documents.append(Document(file.stem, content, b"", file))
    while any(document.content["paths"] for document in documents):
        try:
            app = build_mock(documents, is_checked=False)
        except Mistakes as error:
            found = list(error.found)
        else:
            return Partial(app, documents, mistakes, left_out)
        mistakes += found
        before = len(left_out)
        for number, document in enumerate(documents):
            content, without = _without_places(document.content, [each.place for each in found])
            documents[number] = replace(document, content=content)
            left_out += without
        if len(left_out) == before:
            break
    if not mistakes:
        raise DocumentError("a document without operations cannot be mocked", at=("paths",))
    raise Mistakes(mistakes)


def _without(
    content: Mapping[str, Any], wrong: Sequence[Steps]
) -> tuple[dict[str, Any], list[str]]:
    """Return a document without the parts that mistakes at these places affect, and the operations
    that are left out. Raise `DocumentError` for a document without paths.
    """
    places = {tuple(map(str, at)) for at in wrong}
    touched = _Touched(content, places)
    sound = dict(content)
    for key in _AROUND:
        if any(at[:1] == (key,) for at in places):
            sound.pop(key, None)
    if any(at in ((), ("info",)) for at in places) or "info" not in sound:
        sound["info"] = {"title": "Mock", "version": "0"}
    paths = content.get("paths")
    if not isinstance(paths, Mapping):
        raise DocumentError("a document without paths cannot be mocked", at=("paths",))
    kept, left_out = {}, []
    for path, written in paths.items():
        if str(path).startswith("x-") or not isinstance(written, Mapping):
            continue
        try:
            item = dict(resolved(content, written))
        except (DocumentError, LookupError, TypeError, AttributeError):
            left_out.append(str(path))
            continue
        for method in [key for key in item if key in METHODS]:
            if touched.operation(("paths", str(path)), method, written, item):
                del item[method]
                left_out.append(f"{method.upper()} {path}")
        if any(key in METHODS for key in item):
            item.pop("additionalOperations", None)
            kept[path] = item
    sound["paths"] = kept
    components = content.get("components")
    if isinstance(components, Mapping):
        sound["components"] = {
            section: {
                name: node
                for name, node in its.items()
                if not touched.is_wrong(("components", str(section), str(name)))
            }
            for section, its in components.items()
            if isinstance(its, Mapping)
        }
    else:
        sound.pop("components", None)
    return _with_referred(content, sound), left_out


def _without_places(
    content: Mapping[str, Any], wrong: Iterable[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return a document without the operations that contain mistakes, and these operations. `wrong`
    are the places as text.
    """
    wrong = list(wrong)
    kept, left_out = {}, []
    for path, item in content["paths"].items():
        item = dict(item)
        for method in [key for key in item if key in METHODS]:
            own = place_of(("paths", path, method))
            above = (place_of(("paths", path)), place_of(("paths",)))
            if any(it in above or f"{it}.".startswith(f"{own}.") for it in wrong):
                del item[method]
                left_out.append(f"{method.upper()} {path}")
        if any(key in METHODS for key in item):
            kept[path] = item
    return _with_referred(content, {**content, "paths": kept}), left_out


def _with_referred(content: Mapping[str, Any], sound: dict[str, Any]) -> dict[str, Any]:
    """Return `sound` with the parts of left-out operations that others refer to."""
    parts: dict[str, Any] = {}
    waiting = [sound["paths"], sound.get("components")]
    while waiting:
        for reference in _references(waiting.pop()):
            if not reference.startswith("#/paths/") or reference in parts:
                continue
            try:
                lookup(sound, reference)
            except (LookupError, TypeError, ValueError):
                with suppress(LookupError, TypeError, ValueError):
                    parts[reference] = lookup(content, reference)
                    waiting.append(parts[reference])
    if not parts:
        return sound
    before = sound.get(_LEFT_OUT, {})
    moved = {reference: f"#/{_LEFT_OUT}/{len(before) + n}" for n, reference in enumerate(parts)}
    kept = {str(len(before) + n): part for n, part in enumerate(parts.values())}
    redirected = _redirected({**sound, _LEFT_OUT: {**before, **kept}}, moved)
    assert isinstance(redirected, dict)
    return redirected


def _redirected(node: Any, moved: Mapping[str, str]) -> Any:
    """Return a node with the targets of its references replaced."""
    if isinstance(node, Mapping):
        found = {key: _redirected(value, moved) for key, value in node.items()}
        reference = found.get("$ref")
        if isinstance(reference, str) and reference in moved:
            found["$ref"] = moved[reference]
        return found
    if isinstance(node, list):
        return [_redirected(value, moved) for value in node]
    return node


class _Touched:
    """Finds the parts of a document that mistakes affect, in them or in their references."""

    def __init__(self, content: Mapping[str, Any], wrong: set[tuple[str, ...]]) -> None:
        self._content = content
        self._wrong = wrong
        self._starts = {at[:end] for at in wrong for end in range(1, len(at) + 1)}
        self._known: dict[str, frozenset[str]] = {}

    def is_wrong(self, at: tuple[str, ...]) -> bool:
        """Return whether a mistake is at a place, in it, or in a part that contains it."""
        around = (at[:end] for end in range(3, len(at)))
        return at in self._starts or any(it in self._wrong for it in around)

    def operation(
        self, at: tuple[str, ...], method: str, written: Mapping[str, Any], item: Mapping[str, Any]
    ) -> bool:
        """Return whether a mistake affects an operation of a path."""
        operation = item[method]
        if not isinstance(operation, Mapping) or at in self._wrong:
            return True
        if self.is_wrong((*at, method)) or self.is_wrong((*at, "parameters")):
            return True
        own = [written.get("$ref"), item.get("parameters"), operation]
        security = operation.get("security", self._content.get("security"))
        names = {
            str(name)
            for each in (security if isinstance(security, list) else ())
            if isinstance(each, Mapping)
            for name in each
        }
        if any(self.is_wrong(("components", "securitySchemes", name)) for name in names):
            return True
        references = set(_references({"$ref": own[0]}))
        references |= set(_references({"parameters": own[1], method: own[2]}, "pathItem"))
        return any(self._is_wrong_behind(each) for each in self._all(references))

    def _is_wrong_behind(self, reference: str) -> bool:
        return not reference.startswith("#") or self.is_wrong(steps_of(reference))

    def _all(self, references: set[str]) -> set[str]:
        """Return references together with all references in their targets."""
        found: set[str] = set()
        waiting = list(references)
        while waiting:
            reference = waiting.pop()
            if reference in found:
                continue
            found.add(reference)
            if reference not in self._known:
                kind = _kind_of(reference)
                self._known[reference] = frozenset(_references(self._target(reference), kind))
            waiting += self._known[reference]
        return found

    def _target(self, reference: str) -> Any:
        node: Any = self._content
        for step in steps_of(reference) if reference.startswith("#/") else ():
            try:
                node = node[int(step) if isinstance(node, list) else step]
            except (LookupError, TypeError, ValueError):
                return None
        return node if node is not self._content else None


def _kind_of(reference: str) -> str | None:
    """Return the kind of the object that a reference to a component refers to, or None for other
    references.
    """
    steps = steps_of(reference)
    is_component = reference.startswith("#/components/") and len(steps) == 3
    return OBJECTS["components"].get(steps[1], "")[1:-1] or None if is_component else None


def _references(node: Any, kind: str | None = None) -> Iterator[str]:
    """Yield the references in an object of a kind. Without a kind, yield everything that looks like
    a reference.
    """
    if kind is not None:
        for _, part, _ in walk(node, kind):
            if isinstance(part, Mapping) and isinstance(part.get("$ref"), str):
                yield part["$ref"]
        return
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            reference = node.get("$ref")
            if isinstance(reference, str):
                yield reference
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
