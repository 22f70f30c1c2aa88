"""No circle of imports between packages: their order is what the imports make it."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.imports import Modules, imports, shipped


def parent(name: str) -> str:
    return name.rpartition(".")[0]


def find_circle(modules: Modules) -> list[str]:
    """Return the packages of one circle of imports, empty if there is none. A module beside
    packages counts as a package.
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


def test_packages_form_no_circle() -> None:
    assert find_circle(shipped()) == []


def test_a_circle_in_the_product_is_found() -> None:
    planted = {"models.chat.messages.planted": ast.parse("import models.chat.sending.messages")}
    assert {"models.chat.messages", "models.chat.sending"} <= set(find_circle(shipped() | planted))


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
        # With a module beside packages
        ({"a.d": "import a.b.x", "a.b.x": "import a.c.x", "a.c.x": "import a.d"},
         {"a.b", "a.c", "a.d"}),
    ],
)  # fmt: skip
def test_a_circle_is_found(sources: dict[str, str], expected: set[str]) -> None:
    modules = {name: ast.parse(source) for name, source in sources.items()}
    assert set(find_circle(modules)) == expected
