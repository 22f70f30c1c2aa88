"""The hand-written OpenAPI documents. What they say once is published in each place."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import orjson
import yaml

from specs.bundle import bundle
from specs.in_place import in_place
from specs.kept import Parsed, parsed

# libyaml's loader is ten times as fast; the pure one is there where the wheel lacks it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def text(name: str) -> bytes:
    """The document `specs/<name>.yaml` as it is published, with what it borrows of others."""
    return _parsed(name).text


def load(name: str) -> dict[str, Any]:
    """The document `specs/<name>.yaml` as a mapping; status codes and other keys are text."""
    document: dict[str, Any] = orjson.loads(_parsed(name).content)
    return document


@lru_cache(maxsize=1)
def _parsed(name: str) -> Parsed:
    return parsed(name, _parse)


def _parse(name: str) -> tuple[bytes, dict[str, Any]]:
    whole = bundle(_written(name), _written).encode()
    document: dict[str, Any] = _text_keys(yaml.load(whole, Loader=_LOADER))
    return whole, document


def _written(name: str) -> str:
    source = resources.files(__package__).joinpath(f"{name}.yaml")
    return in_place(source.read_text(encoding="utf-8"))


def _text_keys(node: Any) -> Any:
    if isinstance(node, dict):
        return {str(key): _text_keys(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_text_keys(item) for item in node]
    return node
