"""The required signature of a handler, and the place of its definition."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from specd._engine.document.operation import Operation
from specd._engine.errors import SourceLocation


def wanted(operation: Operation, name: str) -> str:
    """Return the first line of a handler for an operation: `def list_tasks(ctx, *, limit,
    cursor=None)`.
    """
    return f"def {name}({', '.join(arguments_of(operation))})"


def arguments_of(operation: Operation, types: Mapping[str, str] | None = None) -> list[str]:
    """Return the parameters of a handler: `ctx`, `*`, `limit`, `cursor=None`. With types, they have
    the order of `types`, and are `limit: int` and `cursor: str | None = None`.
    """
    optional = operation.optional
    if types is None:
        names = sorted(operation.argument_names, key=lambda each: (each in optional, each))
        arguments = [f"{each}=None" if each in optional else each for each in names]
        return ["ctx", *(["*"] if arguments else []), *arguments]
    arguments = [
        f"{name}: {_or_none(kind)} = None" if name in optional else f"{name}: {kind}"
        for name, kind in types.items()
    ]
    return ["ctx: Context", *(["*"] if arguments else []), *arguments]


def _or_none(kind: str) -> str:
    return kind if kind.endswith("None") or kind == "object" else f"{kind} | None"


def spot_of(function: Callable[..., Any]) -> SourceLocation | None:
    """Return the place of a function's definition, after its decorators, or None if it is
    unknown.
    """
    function = inspect.unwrap(function)
    try:
        file = inspect.getsourcefile(function)
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None
    if file is None:
        return None
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("def ", "async def ")):
            return SourceLocation(Path(file), first + number, len(line) - len(line.lstrip()) + 1)
    return SourceLocation(Path(file), first, 1)
