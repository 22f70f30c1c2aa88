"""Finds the operations of a path: with dictionaries for fixed paths and for paths that are fixed
except for the last segment, and with a tree of segments for other paths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Generic, TypeVar

from specd._engine.errors import DocumentError
from specd._engine.http.guard import PERCENT, decode_percent, decode_text

T = TypeVar("T")


class Route(Generic[T]):
    """All methods of one documented path, and the names of its parameters."""

    __slots__ = ("allow", "methods", "names", "path")

    def __init__(self, path: str, names: tuple[str, ...]) -> None:
        self.path = path
        self.names = names
        self.methods: dict[str, T] = {}
        self.allow: tuple[str, ...] = ()


class _Node(Generic[T]):
    __slots__ = ("fixed", "integer", "mixed", "route", "text")

    def __init__(self) -> None:
        self.fixed: dict[str, _Node[T]] = {}
        self.mixed: dict[str, tuple[re.Pattern[str], _Node[T]]] = {}
        """The segment without the names of its parameters -> its pattern and node. Longer segments
        are first.
        """
        self.integer: _Node[T] | None = None
        self.text: _Node[T] | None = None
        self.route: Route[T] | None = None


class Router(Generic[T]):
    """Finds the route of a path. Fixed segments have the highest priority, followed by segments of
    text and parameters (`{name}.json`), integers, and any text.
    """

    def __init__(self, *, strict_integers: bool = False) -> None:
        self._fixed: dict[bytes, Route[T]] = {}
        self._fixed_but_last: dict[bytes, tuple[Route[T], bool]] = {}
        """The path before the last segment -> the route, and whether the last segment may be any
        text. If there are routes for integers and for text, it is the route for integers.
        """
        self._mixed_below: set[bytes] = set()
        """The paths before a last segment of text and parameters."""
        self._root: _Node[T] = _Node()
        self._with_slashes: dict[str, Route[T]] = {}
        self._strict = strict_integers

    def add(
        self,
        path: str,
        method: str,
        integers: frozenset[str],
        target: T,
        *,
        takes_slashes: bool = False,
    ) -> Route[T]:
        """Register `method` on the path template `path`. `integers` are its integer parameters.
        With `takes_slashes`, its only parameter, at the end, may contain unencoded slashes.

        Raise `DocumentError` for a second template of the same shape.
        """
        names: list[str] = []
        node = self._root
        for segment in path.split("/")[1:]:
            if _is_parameter(segment):
                name = segment[1:-1]
                names.append(name)
                if name in integers:
                    node.integer = node.integer or _Node()
                    node = node.integer
                else:
                    node.text = node.text or _Node()
                    node = node.text
            elif "{" in segment:
                names.extend(re.findall(r"{([^}]*)}", segment))
                node = _add_mixed(node, segment, integers)
            else:
                node = node.fixed.setdefault(segment, _Node())
        start, _, last = path.rpartition("/")
        is_fixed_but_last = [last] == [f"{{{name}}}" for name in names]
        if "{" in last and not _is_parameter(last):
            self._mixed_below.add(start.encode())
            self._fixed_but_last.pop(start.encode(), None)
        if node.route is None:
            node.route = Route(path, tuple(names))
            if "%" not in path and not names:
                self._fixed[path.encode()] = node.route
            if "%" not in path and is_fixed_but_last and start.encode() not in self._mixed_below:
                takes_text = names[0] not in integers
                if not (takes_text and start.encode() in self._fixed_but_last):
                    self._fixed_but_last[start.encode()] = node.route, takes_text
        elif node.route.path != path:
            raise DocumentError(f"{path}: cannot be told from {node.route.path}")
        route = node.route
        if takes_slashes:
            if not is_fixed_but_last:
                raise DocumentError(f"{path}: only a single parameter at the end takes slashes")
            self._with_slashes[start + "/"] = route
        route.methods[method] = target
        methods = set(route.methods) | {"OPTIONS"} | ({"HEAD"} if "GET" in route.methods else set())
        route.allow = tuple(sorted(methods))
        return route

    def find(self, raw_path: bytes) -> tuple[Route[T], Mapping[str, list[str]]] | None:
        """Return the route of a raw (percent-encoded) path and the texts of its parameters, or
        None.

        Raise `InvalidRequest` for a path that is not valid percent-encoded UTF-8.
        """
        fixed = self._fixed.get(raw_path)
        if fixed is not None:
            return fixed, {}
        start, _, last = raw_path.rpartition(b"/")
        but_last = self._fixed_but_last.get(start)
        if but_last is not None:
            route, takes_text = but_last
            if last.isdigit() or (takes_text and last and PERCENT not in last):
                return route, {route.names[0]: [decode_text(last, "/path")]}
        return self._find_in_tree(raw_path)

    def _find_in_tree(self, raw_path: bytes) -> tuple[Route[T], Mapping[str, list[str]]] | None:
        if PERCENT in raw_path:
            segments = [decode_percent(segment, "/path") for segment in raw_path.split(b"/")]
        else:
            segments = decode_text(raw_path, "/path").split("/")
        texts: list[str] = []
        route = self._walk(self._root, segments, 1, texts)
        if route is None:
            return self._find_with_slashes("/".join(segments))
        if len(texts) == 1:
            return route, {route.names[0]: texts}
        return route, {name: [text] for name, text in zip(route.names, texts, strict=True)}

    def _find_with_slashes(self, path: str) -> tuple[Route[T], Mapping[str, list[str]]] | None:
        for start, route in self._with_slashes.items():
            rest = path.removeprefix(start)
            if rest and rest != path:
                return route, {route.names[0]: [rest]}
        return None

    def _walk(
        self, node: _Node[T], segments: list[str], at: int, texts: list[str]
    ) -> Route[T] | None:
        if at == len(segments):
            return node.route
        segment = segments[at]
        following = node.fixed.get(segment)
        if following is not None:
            found = self._walk(following, segments, at + 1, texts)
            if found is not None:
                return found
        if segment == "":
            return None
        for pattern, behind in node.mixed.values():
            match = pattern.fullmatch(segment)
            if match is not None:
                texts.extend(match.groups())
                found = self._walk(behind, segments, at + 1, texts)
                if found is not None:
                    return found
                del texts[-len(match.groups()) :]
        for child in (node.integer, node.text):
            if child is None:
                continue
            if child is node.integer and not self._takes_integer(node, segment):
                continue
            texts.append(segment)
            found = self._walk(child, segments, at + 1, texts)
            if found is not None:
                return found
            texts.pop()
        return None

    def _takes_integer(self, node: _Node[T], segment: str) -> bool:
        digits = segment.removeprefix("-")
        if digits.isascii() and digits.isdigit():
            return True
        return bool(segment) and not self._strict and node.text is None


def _is_parameter(segment: str) -> bool:
    """Return whether a segment of a template consists of only one parameter."""
    return re.fullmatch(r"{[^{}]*}", segment) is not None


def _add_mixed(node: _Node[T], segment: str, integers: frozenset[str]) -> _Node[T]:
    """Add a segment of text and parameters, and return the node after it."""
    parts = re.split(r"{([^}]*)}", segment)
    pattern = "".join(
        re.escape(part) if at % 2 == 0 else "(-?[0-9]+)" if part in integers else "(.+?)"
        for at, part in enumerate(parts)
    )
    shape = "{}".join(parts[::2])
    if shape not in node.mixed:
        node.mixed[shape] = re.compile(pattern, re.DOTALL), _Node()
        node.mixed = dict(sorted(node.mixed.items(), key=lambda item: -len(item[0])))
    return node.mixed[shape][1]
