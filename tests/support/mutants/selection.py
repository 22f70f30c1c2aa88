"""Selects the test modules for a mutant, nearest first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.support.mutants.operators import Mutant
from tests.support.touched import Graph

LEFT_OUT = (
    "tests/architecture/", "tests/benchmarks/", "tests/clients/", "tests/contract/continuity/",
    "tests/contract/cost/", "tests/contract/differential/", "tests/contract/fuzz/",
    "tests/contract/prism/", "tests/contract/sdk/", "tests/live/", "tests/pages/", "tests/tools/",
)  # fmt: skip
"""Tests that read the source without running it, and tests that take a minute each."""

MAX_CALLS = 6
FAR = 8
"""The distance of a test that imports the file without calling the function indirectly."""

Place = tuple[str, str]
"""A file, and a name defined at its top level or by one of its classes."""


@dataclass(frozen=True)
class Calls:
    """The names that the definitions of each file mention."""

    mentions: dict[Place, frozenset[str]]
    users: dict[tuple[str, str], list[str]]
    """File and mentioned name -> the definitions of the file that mention it."""
    importers: dict[str, list[str]]

    def callers(self, place: Place) -> Iterator[Place]:
        """Yield the definitions that mention a name, in its file and in files that import it."""
        file, name = place
        for other in (file, *self.importers.get(file, ())):
            for user in self.users.get((other, name), ()):
                yield other, user


def read_calls(root: Path, graph: Graph) -> Calls:
    """Return the mentions of all files of a graph."""
    mentions: dict[Place, frozenset[str]] = {}
    users: dict[tuple[str, str], list[str]] = {}
    importers: dict[str, list[str]] = {}
    for file, imported in sorted(graph.items()):
        for other in sorted(imported - {file}):
            importers.setdefault(other, []).append(file)
        for name, node in _definitions(ast.parse((root / file).read_bytes()).body):
            names = frozenset(_names(node))
            mentions[file, name] = mentions.get((file, name), frozenset()) | names
            for mentioned in names - {name}:
                users.setdefault((file, mentioned), []).append(name)
    return Calls(mentions, users, importers)


def nearest_tests(mutant: Mutant, root: Path, graph: Graph, calls: Calls) -> list[str]:
    """Return the test modules that import the file of a mutant, directly or through others.

    A test is nearer if fewer calls separate it from the changed definition, and if it shares more
    names with the file. Equally near tests are ordered by size.
    """
    called = _distances_by_calls(mutant, calls)
    imported = _distances_by_imports(mutant.file, calls)
    folder = "tests" / PurePosixPath(mutant.file).parent
    tests = [
        test
        for test in graph
        if test.startswith("tests/")
        and PurePosixPath(test).name.startswith("test_")
        and not test.startswith(LEFT_OUT)
        and (test in called or test in imported or PurePosixPath(test).parent == folder)
    ]

    def rank(test: str) -> tuple[int, int]:
        distance = called.get(test, FAR + imported.get(test, 3))
        return distance - _common(test, mutant.file), (root / test).stat().st_size

    return sorted(tests, key=rank)


def _distances_by_calls(mutant: Mutant, calls: Calls) -> dict[str, int]:
    start = [(mutant.file, name) for name in _defined_names(mutant)]
    distances = dict.fromkeys(start, 0)
    files: dict[str, int] = {}
    new = list(start)
    for place in new:
        distance = distances[place]
        files.setdefault(place[0], distance)
        if place[0].startswith("handlers/"):  # tests call operations by their paths
            head, _, tail = place[0].rpartition("/")
            files.setdefault(f"tests/{head}/test_{tail}", distance + 1)
        if distance < MAX_CALLS:
            for caller in calls.callers(place):
                if caller not in distances:
                    distances[caller] = distance + 1
                    new.append(caller)
    return files


def _distances_by_imports(file: str, calls: Calls) -> dict[str, int]:
    distances, new = {file: 0}, [file]
    for module in new:
        for other in calls.importers.get(module, ()):
            if other not in distances:
                distances[other] = distances[module] + 1
                new.append(other)
    return distances


def _defined_names(mutant: Mutant) -> list[str]:
    """Return the names that run the mutant: a function, a class, an assigned name."""
    names = [name for name in mutant.function.split(".") if name]
    if not names:
        return [mutant.context.split("=")[0].split(":")[0].strip()]
    return [name for name in names if not (name.startswith("__") and name.endswith("__"))]


def _definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield node.name, node
            yield from _definitions(node.body)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield ast.unparse(target), node
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield "", node


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr


def _common(test: str, file: str) -> int:
    """Return how many names of a layer, a package or a module they share.

    The module counts twice.
    """
    names = {part.removeprefix("test_") for part in PurePosixPath(test).with_suffix("").parts[1:]}
    layer, *packages, module = PurePosixPath(file).with_suffix("").parts
    return sum(name in names for name in [layer, *packages, module, module])
