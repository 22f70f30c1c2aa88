"""Decorators for handlers that work in two phases, or change nothing.

Other requests wait for the locks of a write unit, so slow work is done before it: a handler marked
`before_transaction(prepare)` gets the result of `prepare` as its second parameter. Each of the two
gets the arguments of the request that it names. `prepare` runs in a unit that only reads, off the
event loop. What it reads may be outdated when the handler runs, so the handler checks in its own
unit whatever it decides on. `prepare` may raise what the handler would.

A handler marked `read_only` runs in a unit that only reads whatever its method, off the event loop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])
R = TypeVar("R")
_PREPARE = "_prepare"
_READS = "_reads"


def before_transaction(
    prepare: Callable[..., Any],
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Mark a handler whose slow first phase is `prepare`."""

    def mark(handler: Callable[..., R]) -> Callable[..., R]:
        setattr(handler, _PREPARE, prepare)
        return handler

    return mark


def read_only(handler: Handler) -> Handler:
    """Mark a handler: it only reads, whatever its method, and that may take long."""
    setattr(handler, _READS, True)
    return handler


def preparation_of(handler: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the first phase of a handler, None where it has only one."""
    prepare: Callable[..., Any] | None = getattr(handler, _PREPARE, None)
    return prepare


def taking_its_own(phase: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, called with those of the keyword arguments that it names."""
    parameters = inspect.signature(phase).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return phase
    return lambda *args, **sent: phase(*args, **{k: sent[k] for k in parameters.keys() & sent})


def is_reading(handler: Callable[..., Any]) -> bool:
    return getattr(handler, _READS, False)
