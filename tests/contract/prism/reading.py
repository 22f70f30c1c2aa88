"""The form of a document that Prism needs.

OpenAPI 3.0.3 requires null among the values of a nullable enumeration. Prism's reader always adds
null there, and silently does not validate responses whose enumeration contains null twice
(https://github.com/stoplightio/prism/issues/1931,
https://github.com/stoplightio/http-spec/pull/272).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def for_prism(node: Any) -> Any:
    """Return a copy without null in the enumerations to which Prism adds it."""
    if isinstance(node, Mapping):
        put = {key: for_prism(value) for key, value in node.items()}
        values = put.get("enum")
        if put.get("nullable") is True and "type" in put and isinstance(values, list):
            put["enum"] = [value for value in values if value is not None]
        return put
    if isinstance(node, list):
        return [for_prism(item) for item in node]
    return node
