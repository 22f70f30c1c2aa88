"""Finds the test modules that a change affects. `scripts/test --changed` runs them.

A test module is affected if a changed file is the module itself, is imported by it, directly or
through other modules, or is a `conftest.py` above it. Handlers are found by name at run time:
`tests/handlers/chat/test_drafts.py` counts as importing `handlers/chat/drafts.py`. A file that is
not Python counts as all modules of its directory. Tests of the source read all files and are always
affected.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLUGINS = (
    *("tests/support/leftovers.py", "tests/support/services.py"),
    "tests/support/chat/fixtures.py",
)
"""The plugins of tests/conftest.py."""
OF_THE_SOURCE = "tests/architecture/"
UNTRACKED = ("ls-files", "--others", "--exclude-standard")

Graph = Mapping[str, set[str]]
"""Python file of the repository -> the other files that it imports."""


def main() -> None:
    print(*touched(changed(sys.argv[1]), import_graph()), sep="\n")


def changed(since: str) -> set[str]:
    """Return the files that differ from the merge base of this branch and `since`."""
    (base,) = _git("merge-base", since, "HEAD")
    return {*_git("diff", "--name-only", "--no-renames", base), *_git(*UNTRACKED)}


def import_graph(root: Path = ROOT) -> Graph:
    """Return the imports of all Python files of a checkout, at any place in a file, except those
    for type checkers alone.
    """
    files = set(source_files(root))
    return {file: set(_imports(root, file, files)) for file in files if file.endswith(".py")}


def source_files(root: Path = ROOT) -> list[str]:
    """Return the files of a checkout that Git does not ignore."""
    files = (*_git("ls-files", root=root), *_git(*UNTRACKED, root=root))
    return [file for file in files if (root / file).exists()]


def touched(change: Iterable[str], graph: Graph) -> list[str]:
    """Return the test modules that are affected by a change of these files."""
    change = set(change)
    folders = {_folder(file) for file in change if not file.endswith(".py")} - {""}
    change |= {module for module in graph if _folder(module) in folders}
    return sorted(
        module
        for module in graph
        if _is_test(module)
        and (module.startswith(OF_THE_SOURCE) or not change.isdisjoint(_needed(module, graph)))
    )


def _git(*words: str, root: Path = ROOT) -> list[str]:
    done = subprocess.run(["git", *words], cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def _imports(root: Path, file: str, files: set[str]) -> Iterator[str]:
    for node in _executed(ast.parse((root / file).read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            place = name.replace(".", "/")
            yield from {f"{place}.py", f"{place}/__init__.py"} & files
    if file.startswith("tests/handlers/"):
        yield from {file.removeprefix("tests/").replace("/test_", "/")} & files


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a module, except those below `if TYPE_CHECKING`."""
    due = [tree]
    while due:
        node = due.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            due += node.orelse
        else:
            due += ast.iter_child_nodes(node)


def _needed(test: str, graph: Graph) -> set[str]:
    """Return the modules that a test module imports, and those of its fixtures."""
    found, new = {test}, [test]
    while new:
        more = graph[new.pop()] - found
        found |= more
        new += more
    above = {f"{folder}/conftest.py" for folder in Path(test).parents}
    return {*found, *PLUGINS, *above}


def _is_test(file: str) -> bool:
    return file.startswith("tests/") and Path(file).name.startswith("test_")


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


if __name__ == "__main__":
    main()
