"""How a handler says that it works in two phases, or changes nothing.

A write unit holds locks that others wait for, so what takes long comes before it: a handler marked
`prepared_by(prepare)` finds what `prepare(ctx, **arguments)` returned in `ctx.prepared`. That runs
on a reading connection, off the event loop; what it has read may be old by the time the handler
runs, which checks in its unit whatever is decided on. `prepare` may raise what the handler would.

A handler marked `changes_nothing` gets a reading connection whatever its method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Handler = TypeVar("Handler", bound=Callable[..., Any])
_PREPARE = "_prepare"
_READS = "_reads"


def prepared_by(prepare: Callable[..., Any]) -> Callable[[Handler], Handler]:
    """Mark a handler: what takes long is `prepare`, which gets the same arguments."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, _PREPARE, prepare)
        return handler

    return mark


def changes_nothing(handler: Handler) -> Handler:
    """Mark a handler of another method than GET: it only reads, and that may take long."""
    setattr(handler, _READS, True)
    return handler


def preparation_of(handler: Callable[..., Any]) -> Callable[..., Any] | None:
    """The first phase of a handler, if it has two."""
    prepare: Callable[..., Any] | None = getattr(handler, _PREPARE, None)
    return prepare


def is_reading(handler: Callable[..., Any]) -> bool:
    return getattr(handler, _READS, False)
