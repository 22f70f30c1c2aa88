"""What imports what in the source of the product."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = "specd"
"""The folder of the library; everything else of the product belongs to the two services."""
SERVICES = (
    *("adapters", "cli", "demo", "handlers", "models", "pages", "specs", "workers"),
    *("setting_values.py", "settings.py", "wsgi.py"),
)
"""The folders and modules of the two services."""
SHIPPED = (LIBRARY, *SERVICES)

BLOCKS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})
"""The fields of a statement that contain statements."""

GENERATED_TYPES = "# Written by `specd types`"
"""How a module begins that `specd types` has written."""

Modules = dict[str, ast.Module]
"""The source by the dotted names of modules; a package is the name of its `__init__`."""


def sources(*places: str) -> list[Path]:
    """Return every Python file below these files and folders of the tree."""
    found = []
    for place in places:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


@cache
def shipped() -> Modules:
    """Return every module of the product, without its expressions, which take 100 MB, and without
    what generated types import for type checkers alone.
    """
    found = {}
    for path in sources(*SHIPPED):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        text = path.read_text()
        tree = found[name.removesuffix(".__init__")] = ast.parse(text)
        if text.startswith(GENERATED_TYPES):
            tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
        for node in _statements(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                for field in set(node._fields) - BLOCKS:
                    setattr(node, field, None)
    return found


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the dotted name and the statement of each import, at any depth."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            # `from specd import db` means the module specd.db.
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the tree and its statements at any depth. Expressions contain none, and to walk them
    takes ten times as long.
    """
    nodes = [tree]
    for node in nodes:
        for field in BLOCKS:
            below = getattr(node, field, ())
            nodes += below if isinstance(below, list) else ()  # an `if` expression has no list
    yield from nodes
