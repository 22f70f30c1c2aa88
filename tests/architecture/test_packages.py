"""Packages import each other in one direction, without cycles."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.imports import Modules, imports, shipped


def parent(name: str) -> str:
    return name.rpartition(".")[0]


def find_cycle(modules: Modules) -> list[str]:
    """Return the packages of a cycle of imports, or an empty list if there are no cycles.

    A module next to packages counts as a package.
    """
    packages = {parent(name) for name in modules}
    holders = {parent(package) for package in packages}

    def node_of(name: str) -> str:
        while name not in modules and name:
            name = parent(name)
        is_inside = name not in packages and parent(name) not in holders
        return parent(name) if is_inside else name

    graph: dict[str, set[str]] = {}
    for module, tree in modules.items():
        node = node_of(module)
        imported = {node_of(name) for name, _ in imports(tree)}
        graph.setdefault(node, set()).update(imported - {"", node})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def test_packages_form_no_cycle() -> None:
    assert find_cycle(shipped()) == []


def test_cycle_in_the_product_is_detected() -> None:
    planted = {"models.chat.messages.planted": ast.parse("import models.chat.sending.messages")}
    assert {"models.chat.messages", "models.chat.sending"} <= set(find_cycle(shipped() | planted))


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        # In one package
        ({"a.b.x": "import a.b.y", "a.b.y": "from a.b import x"}, set()),
        # In one direction
        ({"a.b.x": "import a.c.x", "a.c.x": "import a.d", "a.d": ""}, set()),
        # Through other modules of both
        ({"a.b.x": "import a.c.x", "a.c.x": "", "a.c.y": "from a.b.y import z", "a.b.y": ""},
         {"a.b", "a.c"}),
        # Within a function
        ({"a.b.x": "import a.c.x", "a.c.x": "def f():\n    import a.b.x"}, {"a.b", "a.c"}),
        # With a package itself
        ({"a.b": "import a.c.x", "a.b.x": "", "a.c.x": "from a import b"}, {"a.b", "a.c"}),
        # With a module next to packages
        ({"a.d": "import a.b.x", "a.b.x": "import a.c.x", "a.c.x": "import a.d"},
         {"a.b", "a.c", "a.d"}),
    ],
)  # fmt: skip
def test_cycle_is_detected(sources: dict[str, str], expected: set[str]) -> None:
    modules = {name: ast.parse(source) for name, source in sources.items()}
    assert set(find_cycle(modules)) == expected
