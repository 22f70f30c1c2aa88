"""API keys: `prk_test_<8 hex id>_<43 characters of secret>`, shown once and stored as a SHA-256.

A random 256-bit secret needs no slow hash. A project may have several active keys, for rotation. A
revoked key is rejected from the next request on. A key with the scope `read` may call the
operations without a required scope; a key with the scope `write` may call all operations.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.orm import Session

from models.payment.errors import InsufficientScope, KeyDoesNotExist
from models.payment.key_shape import SECRET
from models.payment.projects import access_project
from models.payment.tables import ApiKey, Project
from models.rows import RowQuery

READ, WRITE = SCOPES = ("read", "write")


@dataclass(frozen=True, slots=True)
class Actor:
    """The project of a request, the key that it used, and what that key may do."""

    project_id: str
    key_id: str
    scope: str
    xpub: str


_ACTIVE = (
    select(ApiKey.project_id, ApiKey.id.label("key_id"), ApiKey.scope, Project.xpub)
    .join_from(ApiKey, Project)
    .where(ApiKey.secret_sha256 == bindparam("secret_sha256"), ApiKey.revoked_at.is_(None))
)
_FIND = RowQuery(Actor, _ACTIVE)
_LOCK = RowQuery(Actor, _ACTIVE.with_for_update(read=True, key_share=True, of=ApiKey))


def create_key(
    session: Session, *, project_id: str, now: datetime, scope: str = WRITE
) -> tuple[ApiKey, str]:
    """Return a new active key and its plaintext, which is not stored. Raise
    `ProjectDoesNotExist`.
    """
    access_project(session, project_id)
    key_id = secrets.token_hex(4)
    while session.get(ApiKey, key_id) is not None:
        key_id = secrets.token_hex(4)
    plaintext = f"prk_test_{key_id}_{secrets.token_urlsafe(32)}"
    key = ApiKey(
        id=key_id,
        project_id=project_id,
        secret_sha256=_hash(plaintext),
        scope=scope,
        created_at=now,
    )
    session.add(key)
    session.flush()
    return key, plaintext


def list_keys(session: Session, *, project_id: str) -> Sequence[ApiKey]:
    """Return all keys of a project, oldest first. Raise `ProjectDoesNotExist`."""
    access_project(session, project_id)
    return session.scalars(
        select(ApiKey).where(ApiKey.project_id == project_id).order_by(ApiKey.created_at, ApiKey.id)
    ).all()


def revoke_key(session: Session, *, key_id: str, now: datetime) -> ApiKey:
    """Revoke a key; revoking it again changes nothing. Raise `KeyDoesNotExist`.

    The row lock waits for write units that use the key. None starts after this unit has ended.
    """
    key = session.get(ApiKey, key_id, with_for_update=True)
    if key is None:
        raise KeyDoesNotExist()
    key.revoked_at = key.revoked_at or now
    session.flush()
    return key


def find_actor(reader: Connection | Session, plaintext: str) -> Actor | None:
    """Return the actor of an active key, or None if the key is malformed, unknown or revoked.

    In a write unit, the key cannot be revoked before the unit ends. A key is looked up by its
    digest, so that every wrong key takes the same time: one index lookup.
    """
    if SECRET.fullmatch(plaintext) is None:
        return None
    query = _LOCK if isinstance(reader, Session) else _FIND
    return query.first(reader, {"secret_sha256": _hash(plaintext)})


def require_scope(actor: Actor, scope: str) -> None:
    """Raise `InsufficientScope` unless the actor's key has the scope, or one that includes it."""
    if SCOPES.index(actor.scope) < SCOPES.index(scope):
        raise InsufficientScope()


def id_of(plaintext: str) -> str | None:
    """Return the public id in a key, active or not, or None if the text is not a key."""
    return plaintext.split("_")[2] if SECRET.fullmatch(plaintext) else None


def note_uses(session: Session, uses: Mapping[str, datetime]) -> None:
    """Store when keys were last used: id -> time. An older time never replaces a newer one."""
    for key_id, at in sorted(uses.items()):
        session.execute(
            update(ApiKey)
            .where(
                ApiKey.id == key_id,
                ApiKey.last_used_at.is_(None) | (ApiKey.last_used_at < at),
            )
            .values(last_used_at=at)
            .execution_options(synchronize_session=False)
        )


def _hash(plaintext: str) -> str:
    return sha256(plaintext.encode("ascii")).hexdigest()
