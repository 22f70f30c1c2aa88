"""Reading OpenAPI documents without the engine, so that a test does not judge it by itself."""

from collections.abc import Mapping
from typing import Any


def resolved(document: Mapping[str, Any], node: Any) -> Any:
    """What a local `$ref` means, through any number of them; any other node itself."""
    while isinstance(node, Mapping) and "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        node = target
    return node
