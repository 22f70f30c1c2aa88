"""Unites the documents of one service into one document, which the engine compiles.

Each document is published and read separately. Together they are served under one base path, so
their paths, tags and components are united. If two documents contradict each other, only one could
be served, so this is a `DocumentError` that names both.

In the united document, paths have no parameters and are not references, each operation has an
operationId, and all schemas have the same dialect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from specd._engine.errors import DocumentError
from specd._engine.openapi.dialects import in_latest
from specd._engine.openapi.naming import operation_id_of
from specd._engine.openapi.structure import METHODS, resolved

_SHARED = ("openapi", "servers", "security")
"""The keys whose values must be the same in all documents of a service."""
_WORDS = frozenset(("description", "summary", "externalDocs", "example", "examples"))
"""Keys for human readers, which the engine ignores."""

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Document:
    """One OpenAPI document: its name, its content, the text to publish byte for byte, and its file.
    Without a text, the content is published as YAML.
    """

    name: str
    content: Node
    text: bytes = b""
    path: Path | None = None


def unite(service: str, documents: Sequence[Document]) -> Node:
    """Return one document with the operations and components of all, and the `info` of the first.

    Raise `DocumentError` for two operations with the same method and path, for a duplicate
    operationId, for a component or tag that two documents define differently (except descriptions),
    and for different OpenAPI versions, servers or default security. An enumeration with
    `x-may-grow: true` gets the values of both documents.
    """
    union = _Union(documents[0])
    for document in documents:
        try:
            union.add(document)
        except DocumentError as error:
            raise DocumentError(f"{service}: {error}") from error
    return in_latest(union.content)


class _Union:
    """The parts that are united so far, and the document of each."""

    def __init__(self, first: Document) -> None:
        self._first = first
        self._paths: dict[str, dict[str, Any]] = {}
        self._tags: dict[str, Node] = {}
        self._components: dict[str, dict[str, Any]] = {}
        self._origin: dict[str, str] = {}

    @property
    def content(self) -> Node:
        united = {"paths": self._paths, "components": self._components}
        return {**self._first.content, "tags": list(self._tags.values()), **united}

    def add(self, document: Document) -> None:
        for key in _SHARED:
            if document.content.get(key) != self._first.content.get(key):
                raise _clash(key, self._first.name, document.name)
        for path in document.content.get("paths", ()):
            if not path.startswith("x-"):
                self._add_path(document, path)
        for tag in document.content.get("tags", ()):
            known = self._tags.setdefault(tag["name"], tag)
            self._merge(f"the tag {tag['name']}", document.name, known, tag)
        for kind, components in document.content.get("components", {}).items():
            united = self._components.setdefault(kind, {})
            for name, component in components.items():
                place = f"components/{kind}/{name}"
                known = united.setdefault(name, component)
                united[name] = self._merge(place, document.name, known, component)

    def _add_path(self, document: Document, path: str) -> None:
        united = self._paths.setdefault(path, {})
        for method, operation in operations_of(document.content, path):
            operation["operationId"] = self._distinct(path, method, operation)
            for place in (f"{method.upper()} {path}", f"operationId {operation['operationId']}"):
                origin = self._origin.setdefault(place, document.name)
                if origin != document.name:
                    raise _clash(place, origin, document.name, "is in both documents")
            united[method] = operation

    def _distinct(self, path: str, method: str, operation: Node) -> str:
        """Return the operationId. A derived operationId gets a number if it is a duplicate, as for
        `/a/b` and `/a/{b}`.
        """
        name = first = str(operation["operationId"])
        if first == operation_id_of(path, method, {}):
            numbers = count(2)
            while f"operationId {name}" in self._origin:
                name = f"{first}_{next(numbers)}"
        return name

    def _merge(self, place: str, document: str, known: Any, added: Any) -> Any:
        """Return the component of both documents. Raise `DocumentError` if they differ."""
        origin = self._origin.setdefault(place, document)
        if _meaning(known) == _meaning(added):
            return known
        if _may_grow(known) and _may_grow(added):
            grown = [*known["enum"], *(v for v in added["enum"] if v not in known["enum"])]
            if _meaning({**known, "enum": grown}) == _meaning({**added, "enum": grown}):
                return {**known, "enum": grown}
        raise _clash(place, origin, document)


def operations_of(document: Node, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the methods and operations of a path, without servers. Each operation has its
    operationId and, after its parameters, those of the path. Raise `DocumentError` for parts that
    cannot be served.

    References to parameters are resolved, because bundlers write references to parameters of a
    path.
    """
    try:
        item = resolved(document, document["paths"][path])
    except DocumentError as error:
        raise DocumentError(f"{path}: {error}", ("paths", path, "$ref")) from error
    if "additionalOperations" in item:
        raise DocumentError(
            f"{path}: additionalOperations are not served", ("paths", path, "additionalOperations")
        )
    shared = _parameters(document, item)
    for method in item:
        if method in METHODS:
            operation = item[method]
            own = _parameters(document, operation)
            parameters = list({**own, **shared, **own}.values())
            yield (
                method,
                {
                    **operation,
                    **({"parameters": parameters} if parameters else {}),
                    "operationId": operation_id_of(path, method, operation),
                },
            )


def _parameters(document: Node, owner: Node) -> dict[tuple[str, str], Node]:
    """Return the parameters of a path or an operation, by place and name."""
    listed = [resolved(document, parameter) for parameter in owner.get("parameters", ())]
    return {(parameter["in"], parameter["name"]): parameter for parameter in listed}


def _may_grow(component: Any) -> bool:
    return isinstance(component, Mapping) and component.get("x-may-grow") is True


def _meaning(node: Any, *, is_map: bool = False) -> Any:
    """Return a component without the keys for human readers. With `is_map`, its keys are names."""
    if isinstance(node, Mapping):
        return {
            key: _meaning(value, is_map=key in ("properties", "headers") and not is_map)
            for key, value in node.items()
            if is_map or key not in _WORDS
        }
    if isinstance(node, list):
        return [_meaning(item) for item in node]
    return node


def _clash(
    place: str, one: str, other: str, fault: str = "differs between the documents"
) -> DocumentError:
    return DocumentError(f"{place} {fault} {one} and {other}")
