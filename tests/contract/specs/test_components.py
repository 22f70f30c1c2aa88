"""Each published document contains exactly the components that it uses."""

from collections.abc import Iterator
from typing import Any

import pytest

import specs
from wsgi import project

DOCUMENTS = list(project.documents)


def references_in(node: Any) -> Iterator[str]:
    """Yield the targets of references, including those of discriminators."""
    if isinstance(node, dict):
        for value in node.values():
            yield from references_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from references_in(value)
    elif isinstance(node, str) and node.startswith("#/components/"):
        yield node


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_component_is_used(name: str) -> None:
    document: dict[str, Any] = specs.load(name)
    components = document["components"]
    waiting = [{key: value for key, value in document.items() if key != "components"}]
    used: set[str] = set()
    while waiting:
        for reference in references_in(waiting.pop()):
            _, _, section, component, *_ = reference.split("/")
            place = f"{section}/{component}"
            if place not in used:
                used.add(place)
                waiting.append(components[section][component])
    sections = components.keys() - {"securitySchemes"}
    all_of_them = {f"{section}/{each}" for section in sections for each in components[section]}
    assert not all_of_them - used
