"""Security events: what an operator watches, each by a name out of one closed list.

A leaf: imports nothing of ours. A line of the log has `event` = `security`, `name`, who asked
(`actor`, `key`), from where (`address`) and in which request (`id`); docs/operations.md says what
to watch for. Never a secret, never an email address.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, Protocol

import structlog


class SecurityEvent(StrEnum):
    """Every name there is, with what it tells."""

    # Refusals: the engine's, for every operation.
    CREDENTIAL_REFUSED = "credential_refused"
    SIGN_IN_REFUSED = "sign_in_refused"
    LIMIT_HIT = "limit_hit"
    FOREIGN_ORIGIN = "foreign_origin"
    # What was handed out.
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


class Asker(Protocol):
    """Who asked and from where: a request's context, as far as events tell of it."""

    @property
    def actor_id(self) -> int | str | None: ...
    @property
    def key_id(self) -> str | None: ...
    @property
    def client(self) -> str: ...
    @property
    def request_id(self) -> str: ...


_asking: ContextVar[Asker | None] = ContextVar("asking", default=None)


@contextmanager
def asking(asker: Asker) -> Iterator[None]:
    """Log events within, in this thread or task, as those of `asker`."""
    token = _asking.set(asker)
    try:
        yield
    finally:
        _asking.reset(token)


def who_asks() -> Asker | None:
    """Whose request is being served; None where nobody's is: a worker, a command."""
    return _asking.get()


def emit(name: SecurityEvent, *, asker: Asker | None = None, **facts: Any) -> None:
    """Write the line of one event. `facts` are ids, names of operations and numbers."""
    asker = asker or who_asks()
    if asker is not None:
        facts = {
            "actor": asker.actor_id,
            "key": asker.key_id,
            "address": asker.client,
            "id": asker.request_id,
            **facts,
        }
    log = structlog.get_logger("security")
    write = log.warning if name in REFUSALS else log.info
    write("security", name=name.value, **facts)
