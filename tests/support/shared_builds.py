"""Lets builds of applications in one process share the parts that depend only on documents.

An application of both services takes a second of CPU time to build, mostly for the schemas and the
responses of its documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from specd import _applications, _composition
from specd._engine import service
from specd._engine.document import compiler
from specd._engine.openapi.union import Document
from specd._engine.serving import app

FUNCTIONS = (
    *((module, "unite") for module in (_applications, _composition, service)),
    (app, "find_mistakes"),
    (compiler, "Schemas"),
    (compiler, "Responses"),
)
"""What is called once for the same documents, schemas and options."""


@contextmanager
def shared_builds() -> Iterator[None]:
    """Share the parts of builds until the end of the block."""
    with ExitStack() as patches:
        shared: dict[Any, Callable[..., Any]] = {}
        for module, name in FUNCTIONS:
            function = vars(module)[name]
            shared.setdefault(function, _remembering(function))
            patches.enter_context(mock.patch.object(module, name, shared[function]))
        yield


def _remembering(function: Callable[..., Any]) -> Callable[..., Any]:
    made: dict[Any, tuple[Any, Any]] = {}

    def call(*values: Any, **options: Any) -> Any:
        key = _identity([*values, *sorted(options.items())])
        if key not in made:
            # The values are kept, because another object may get the id of a deleted one.
            made[key] = function(*values, **options), values
        return made[key][0]

    return call


def _identity(value: Any) -> Any:
    """Return a key that is equal for the same document, schema or option."""
    if isinstance(value, list | tuple):
        return tuple(map(_identity, value))
    if isinstance(value, Document):
        return value.name, id(value.content)
    return value if isinstance(value, str | bool) else id(value)
