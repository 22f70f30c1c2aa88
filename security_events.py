"""Security events: what an operator watches, each by a name out of one closed list.

It imports no other module of the product. A line of the log has `event` = `security`, `name`, the
caller (`actor`, `key`, `address`) and the request (`id`), and neither secrets nor email addresses.
docs/operations.md describes what to watch for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, Protocol

import structlog


class SecurityEvent(StrEnum):
    """The names of all events."""

    # Refusals: the engine's, for every operation.
    CREDENTIAL_REFUSED = "credential_refused"
    SIGN_IN_REFUSED = "sign_in_refused"
    LIMIT_HIT = "limit_hit"
    FOREIGN_ORIGIN = "foreign_origin"
    # Keys and exports that were issued.
    SIGNED_IN = "signed_in"
    EXPORT_REQUESTED = "export_requested"
    EXPORT_DOWNLOADED = "export_downloaded"
    EXPORT_DELETED = "export_deleted"
    # Credentials.
    USER_API_KEY_RENEWED = "user_api_key_renewed"
    REALM_API_KEYS_REVOKED = "realm_api_keys_revoked"
    USER_PASSWORD_CHANGED = "user_password_changed"
    USER_EMAIL_CHANGED = "user_email_changed"
    # Accounts and rights.
    USER_CREATED = "user_created"
    USER_DEACTIVATED = "user_deactivated"
    USER_REACTIVATED = "user_reactivated"
    USER_ROLE_CHANGED = "user_role_changed"
    USER_RIGHTS_CHANGED = "user_rights_changed"
    # Organizations.
    REALM_CREATED = "realm_created"
    REALM_SETTING_CHANGED = "realm_setting_changed"
    JWT_SIGN_IN_CHANGED = "jwt_sign_in_changed"
    JWT_SIGN_IN_ENDED = "jwt_sign_in_ended"


REFUSALS = frozenset(
    (
        SecurityEvent.CREDENTIAL_REFUSED,
        SecurityEvent.SIGN_IN_REFUSED,
        SecurityEvent.LIMIT_HIT,
        SecurityEvent.FOREIGN_ORIGIN,
    )
)


class Caller(Protocol):
    """The part of a request's context that events have: who called, and from where."""

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
    """Log the events of the block, in this thread or task, as those of the caller."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def current_caller() -> Caller | None:
    """Return the caller of the request in progress; None in workers and commands."""
    return _caller.get()


def emit(name: SecurityEvent, *, caller: Caller | None = None, **facts: Any) -> None:
    """Write the line of one event. `facts` are ids, names of operations and numbers."""
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
    write("security", name=name.value, **facts)
