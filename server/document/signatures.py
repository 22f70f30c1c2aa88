"""What a handler has to look like, and where it is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from server.document.operation import Operation
from server.errors import Spot


def wanted(operation: Operation, name: str) -> str:
    """Return the first line of a handler that takes what a request may send:
    `def list_tasks(ctx, *, limit, cursor=None)`.
    """
    optional = operation.optional
    names = sorted(operation.argument_names, key=lambda each: (each in optional, each))
    arguments = "".join(f", {each}=None" if each in optional else f", {each}" for each in names)
    return f"def {name}(ctx{', *' if names else ''}{arguments})"


def spot_of(function: Callable[..., Any]) -> Spot | None:
    """Return where a function is defined; None if Python does not know."""
    try:
        file = inspect.getsourcefile(function)
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return None
    if file is None:
        return None
    for number, line in enumerate(lines):
        if line.lstrip().startswith(("def ", "async def ")):
            return Spot(Path(file), first + number, len(line) - len(line.lstrip()) + 1)
    return Spot(Path(file), first, 1)
