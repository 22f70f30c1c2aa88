"""The imports in the source of the product."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = "specd"
"""The folder of the library. The rest of the product belongs to the two services."""
SERVICES = (
    *("adapters", "cli", "demo", "handlers", "models", "pages", "specs", "workers"),
    *("setting_values.py", "settings.py", "wsgi.py"),
)
"""The folders and modules of the two services."""
SHIPPED = (LIBRARY, *SERVICES)

BLOCKS = frozenset({"body", "handlers", "cases", "orelse", "finalbody"})
"""The fields of a statement that contain statements."""

GENERATED_TYPES = "# Written by `specd types`"
"""The first line of modules that `specd types` writes."""

Modules = dict[str, ast.Module]
"""The syntax trees by dotted module name. The name of a package is that of its `__init__`."""


def sources(*places: str) -> list[Path]:
    """Return the Python files below these files and folders of the tree."""
    found = []
    for place in places:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


@cache
def shipped() -> Modules:
    """Return the modules of the product, without expressions, which need 100 MB, and without
    imports for type checkers alone in generated types.
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
    """Yield the tree and its statements at any depth.

    Expressions contain no statements, and walking them is ten times slower.
    """
    nodes = [tree]
    for node in nodes:
        for field in BLOCKS:
            below = getattr(node, field, ())
            nodes += below if isinstance(below, list) else ()  # an `if` expression has no list
    yield from nodes
