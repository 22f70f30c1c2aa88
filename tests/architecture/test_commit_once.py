"""One committer: whoever ends a transaction, it is the unit of work in specd/_db/database.py."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("server", "handlers", "models", "adapters", "workers", "pages", "cli", "specs")
COMMITTER = "specd/_db/database.py"


def test_one_module_only_commits() -> None:
    files = [ROOT / "project.py", ROOT / "applications.py", ROOT / "settings.py", ROOT / "wsgi.py"]
    for package in PACKAGES:
        files += sorted((ROOT / package).rglob("*.py"))
    found = {
        f"{name}:{node.lineno}"
        for path in files
        if "migrations" not in path.parts and (name := path.relative_to(ROOT).as_posix())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "commit"
    }
    elsewhere = {place for place in found if not place.startswith(f"{COMMITTER}:")}
    assert found, f"{COMMITTER} does not commit any more: this test looks at the wrong place"
    assert not elsewhere
