"""Code outside the library uses only its public names, like the code of other projects."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.imports import ROOT, sources

_PRIVATE = re.compile(r"specd(?:\.[a-z]\w*)*\._(?!_version__)\w+")
USERS = (
    *("handlers", "models", "workers", "pages", "adapters", "cli", "demo", "specs", "examples"),
    *("settings.py", "setting_values.py", "wsgi.py"),
)


def find_private_imports(source: str) -> Iterator[str]:
    """Yield the private packages and names of the library that a module imports or accesses."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        for name in names:
            if private := _PRIVATE.match(name):
                yield private[0]


def test_code_outside_the_library_imports_no_private_module() -> None:
    found: dict[str, set[str]] = {}
    for path in sources(*(user for user in USERS if (ROOT / user).exists())):
        if private := set(find_private_imports(path.read_text())):
            found[str(path.relative_to(ROOT))] = private
    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from specd._db.database import Database", ["specd._db"]),
        ("from specd._db import database", ["specd._db"]),
        ("from specd import _tracing as tracing", ["specd._tracing"]),
        ("import specd._engine.context", ["specd._engine"]),
        ("def late():\n    from specd._cli import output", ["specd._cli"]),
        ("import specd\nspecd._settings", ["specd._settings"]),
        ("from specd.db import _hidden", ["specd.db._hidden"]),
        ("from specd.db import Database, Db", []),
        ("from specd import __version__", []),
        ("from specd import Context\nfrom specdoc import _x\nimport orders._specd", []),
    ],
)
def test_private_imports_are_detected(source: str, found: list[str]) -> None:
    assert list(find_private_imports(source)) == found


def test_listed_exceptions_exist() -> None:
    assert all(Path(ROOT, user).exists() for user in USERS if user != "examples")
