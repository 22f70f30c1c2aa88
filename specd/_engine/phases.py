"""Decorators for handlers with two phases, and for handlers that only read.

Other requests wait for the locks of a unit that writes, so slow work is done before it: a handler
marked with `before_transaction(prepare)` gets the result of `prepare` as its second argument. Both
get those arguments of the request that they name. `prepare` runs in a unit that only reads, in a
thread. The data that it reads may be outdated when the handler runs, so the handler must check them
again in its own unit. `prepare` may raise the same errors as the handler.

A handler marked with `read_only` runs in a unit that only reads, in a thread, regardless of its
method.
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
    """Mark a handler: its slow first phase is `prepare`, which runs before the transaction. The
    handler gets the result of `prepare` as its second argument.
    """

    def mark(handler: Callable[..., R]) -> Callable[..., R]:
        setattr(handler, _PREPARE, prepare)
        return handler

    return mark


def read_only(handler: Handler) -> Handler:
    """Mark a handler that only reads, regardless of its method, and that may take long."""
    setattr(handler, _READS, True)
    return handler


def preparation_of(handler: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the first phase of a handler, or None if it has only one phase."""
    prepare: Callable[..., Any] | None = getattr(handler, _PREPARE, None)
    return prepare


def taking_its_own(phase: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `phase` with only those keyword arguments that `phase` names."""
    parameters = inspect.signature(phase).parameters
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return phase
    return lambda *args, **sent: phase(*args, **{k: sent[k] for k in parameters.keys() & sent})


def is_reading(handler: Callable[..., Any]) -> bool:
    return getattr(handler, _READS, False)
