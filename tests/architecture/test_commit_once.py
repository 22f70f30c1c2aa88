"""Transactions are committed only by the unit of work in specd/_db/database.py."""

import ast

from tests.architecture.imports import ROOT, SHIPPED, sources

COMMITTER = "specd/_db/database.py"


def test_only_one_module_commits() -> None:
    found = {
        f"{name}:{node.lineno}"
        for path in sources(*SHIPPED)
        if "migrations" not in path.parts and (name := path.relative_to(ROOT).as_posix())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "commit"
    }
    elsewhere = {place for place in found if not place.startswith(f"{COMMITTER}:")}
    assert found, f"{COMMITTER} no longer commits: update COMMITTER"
    assert not elsewhere
