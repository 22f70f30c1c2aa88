"""Security events, which operators watch. Each has a name from a closed list.

The refusals are listed here. A service lists its own events in an enumeration.

This module imports no other module of specd. A log line has `event` = `security`, `name`, the
caller (`actor`, `key`, `address`) and the request (`id`), and neither secrets nor email addresses.
docs/operations.md describes what to watch for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Protocol, get_args

import structlog

SecurityEvent = Literal["credential_refused", "sign_in_refused", "limit_hit", "foreign_origin"]
"""The refusals that every service can have. They are logged as warnings."""
REFUSALS: frozenset[str] = frozenset(get_args(SecurityEvent))


class Caller(Protocol):
    """The part of a request's context that events contain: the caller and its address."""

    @property
    def actor_id(self) -> int | str | None: ...
    @property
    def key_id(self) -> str | None: ...
    @property
    def client(self) -> str: ...
    @property
    def request_id(self) -> str: ...
    @property
    def traceparent(self) -> str | None: ...


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def asking(caller: Caller) -> Iterator[None]:
    """Attribute the events that this thread or task logs in the block to the caller."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def current_caller() -> Caller | None:
    """Return the caller of the request in progress, or None in workers and commands."""
    return _caller.get()


def emit(name: str, *, caller: Caller | None = None, **facts: Any) -> None:
    """Log one security event. The refusals of every service (`credential_refused`,
    `sign_in_refused`, `limit_hit`, `foreign_origin`) are warnings, and a service's own events are
    information. `facts` are ids, names of operations and numbers.
    """
    caller = caller or current_caller()
    if caller is not None:
        facts = {
            "actor": caller.actor_id,
            "key": caller.key_id,
            "address": caller.client,
            "id": caller.request_id,
            **facts,
        }
    log = structlog.get_logger("security")
    write = log.warning if name in REFUSALS else log.info
    write("security", name=str(name), **facts)
