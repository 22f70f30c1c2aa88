"""A document as it has to be put for Prism to judge by it.

OpenAPI 3.0.3 wants null among the values of a nullable enumeration. Prism's reader adds null there
in any case, and of an answer whose enumeration then has null twice Prism judges nothing, without a
word (https://github.com/stoplightio/prism/issues/1931,
https://github.com/stoplightio/http-spec/pull/272).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def for_prism(node: Any) -> Any:
    """The same, but for null in the enumerations to which Prism adds it."""
    if isinstance(node, Mapping):
        put = {key: for_prism(value) for key, value in node.items()}
        values = put.get("enum")
        if put.get("nullable") is True and "type" in put and isinstance(values, list):
            put["enum"] = [value for value in values if value is not None]
        return put
    if isinstance(node, list):
        return [for_prism(item) for item in node]
    return node
