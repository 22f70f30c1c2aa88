"""The position of a value in a response: `subscriptions[stream_id=$denmark.stream_id].color`.

A path is a list of steps. Notation: `name` or `.name` is a member of a record, `[0]` and `[-1]` an
item of an array, `[*]` every item, `[name=value]` the only item whose member has that value,
`[key]` the entry of a map, `.` alone the complete response. A value that begins with `$` is a
reference to a value known at the time of the call: the response of an earlier call or a fact of the
stage, with a path whose first step is the name. `#ETag` at its end is a header of that response.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

Step = list[Any]
REF = "$ref"
"""The only key of a reference to a known value. Its value is the path."""
MEMBER, ITEM, EACH, ONLY, ENTRY, HEADER = "member", "item", "each", "only", "entry", "header"

_STEPS: tuple[tuple[str, Callable[..., Step]], ...] = (
    (r"\.?(\w+)", lambda name: [MEMBER, name]),
    (r"\[(-?\d+)\]", lambda index: [ITEM, int(index)]),
    (r"\[\*\]", lambda: [EACH]),
    (r"\[(\w+)=([^\]]+)\]", lambda name, text: [ONLY, name, _value(text)]),
    (r"\[([^\]]+)\]", lambda text: [ENTRY, _value(text)]),
    (r"#([\w-]+)$", lambda name: [HEADER, name]),
)


def parse(text: str) -> list[Step]:
    """Return the steps of a path. Raises ValueError if it is invalid."""
    steps, rest = [], "" if text == "." else text
    while rest:
        for pattern, step in _STEPS:
            if found := re.match(pattern, rest):
                steps.append(step(*found.groups()))
                rest = rest[found.end() :]
                break
        else:
            raise ValueError(f"{rest!r} of {text!r} is not a step of a path")
    return steps


def parse_values(node: Any) -> Any:
    """Return a value with its `$` strings as `{"$ref": steps}`, at any depth."""
    if isinstance(node, dict):
        return {name: parse_values(value) for name, value in node.items()}
    if isinstance(node, list):
        return [parse_values(value) for value in node]
    if isinstance(node, str) and node.startswith("$"):
        return {REF: parse(node[1:])}
    return node


def _value(text: str) -> Any:
    return parse_values(yaml.safe_load(text))
