"""Browser sessions, identified by a token in a cookie.

A session has one purpose: its browser can get the user's API key again. It ends with the key, the
password or the account. The database contains the SHA-256 of the token.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from models.chat.common.one_line import FORBIDDEN
from models.chat.identity.actors import Actor
from models.chat.identity.errors import NoSuchSession
from models.chat.identity.sign_in import Account
from models.chat.tables import BrowserSession, User
from models.dialects import id_in
from models.json import Json
from specd.db import Db, UtcMs, table_of

LIFETIME = timedelta(days=30)
MOST = 10
"""Maximum number of sessions of a user. A new session ends the oldest."""
TOKEN_BYTES = 32
AGENT_LENGTH = 200

SESSIONS = table_of(BrowserSession)
_ROWS = (
    select(
        SESSIONS.c.id,
        SESSIONS.c.user_agent,
        SESSIONS.c.created_at,
        SESSIONS.c.last_used_at,
        SESSIONS.c.ends_at,
        SESSIONS.c.token_sha256,
    )
    .where(
        SESSIONS.c.user_id == bindparam("user_id"),
        SESSIONS.c.ends_at > bindparam("now", type_=UtcMs),
    )
    .order_by(SESSIONS.c.id)
)


@dataclass(frozen=True, slots=True)
class Begun:
    """A session in the API's form, and the token for its browser."""

    described: dict[str, Any]
    token: str


def begin_session(
    session: Session, actor: Actor, *, before: str | None, user_agent: str, now: datetime
) -> Begun:
    """Begin a session of the actor. It replaces the session with the token `before`, which the
    browser discards.
    """
    own = select(User.id).where(User.id == actor.id)
    session.execute(own.with_for_update(key_share=True))  # serializes new sessions of the user
    if before is not None:
        end_session_of(session, before)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = {
        "user_id": actor.id,
        "token_sha256": _digest_of(token),
        "user_agent": FORBIDDEN.sub(" ", user_agent)[:AGENT_LENGTH],
        "created_at": now,
        "last_used_at": now,
        "ends_at": now + LIFETIME,
    }
    session_id = session.execute(insert(SESSIONS).values(row).returning(SESSIONS.c.id)).scalar_one()
    kept = select(SESSIONS.c.id).where(SESSIONS.c.user_id == actor.id)
    kept = kept.order_by(SESSIONS.c.id.desc()).limit(MOST)
    session.execute(
        delete(SESSIONS).where(SESSIONS.c.user_id == actor.id, SESSIONS.c.id.not_in(kept))
    )
    return Begun(_describe(session_id, row, is_current=True), token)


def find_sessions(db: Db, actor: Actor, token: str | None, *, now: datetime) -> Json:
    """Return the actor's sessions. The session with the token is marked as current."""
    digest = None if token is None else _digest_of(token)
    rows = db.execute(_ROWS, {"user_id": actor.id, "now": now})
    return [_describe(row.id, row._asdict(), is_current=row.token_sha256 == digest) for row in rows]


def end_session(session: Session, actor: Actor, session_id: int, token: str | None) -> bool:
    """End a session of the actor. Return whether it is the session with the token. Raise
    `NoSuchSession`.
    """
    ended = session.execute(
        delete(SESSIONS)
        .where(SESSIONS.c.id == session_id, SESSIONS.c.user_id == actor.id)
        .returning(SESSIONS.c.token_sha256)
    ).scalar_one_or_none()
    if ended is None:
        raise NoSuchSession()
    return token is not None and ended == _digest_of(token)


def end_session_of(session: Session, token: str) -> None:
    """End the session with the token, if it exists, for any user."""
    session.execute(delete(SESSIONS).where(SESSIONS.c.token_sha256 == _digest_of(token)))


def end_sessions_of(session: Session, user_ids: Collection[int]) -> None:
    """End all sessions of these users after their keys or passwords have ended."""
    session.execute(delete(SESSIONS).where(id_in(SESSIONS.c.user_id, user_ids)))


def use_session(
    session: Session, token: str, *, realm_id: int, now: datetime
) -> tuple[int, Account] | None:
    """Return the id and the user of the session with the token, or None if the realm has no such
    session or it has expired.
    """
    found = session.execute(
        select(
            SESSIONS.c.id,
            User.id.label("user_id"),
            User.delivery_email,
            User.is_active,
            User.password_hash,
        )
        .join(User, User.id == SESSIONS.c.user_id)
        .where(
            SESSIONS.c.token_sha256 == _digest_of(token),
            SESSIONS.c.ends_at > now,
            User.realm_id == realm_id,
        )
    ).first()
    if found is None:
        return None
    session.execute(update(SESSIONS).where(SESSIONS.c.id == found.id).values(last_used_at=now))
    account = Account(found.user_id, found.delivery_email, found.is_active, found.password_hash)
    return found.id, account


def find_user_id(db: Db, token: str, *, realm_id: int, now: datetime) -> int | None:
    """Return the id of the session's user like `use_session`, without changes."""
    query = select(SESSIONS.c.user_id).join(User, User.id == SESSIONS.c.user_id)
    found = query.where(
        SESSIONS.c.token_sha256 == _digest_of(token),
        SESSIONS.c.ends_at > now,
        User.realm_id == realm_id,
    )
    return db.execute(found).scalar()


def _digest_of(token: str) -> str:
    """Return the stored digest of a token. A token has 256 random bits, so it needs no slow
    hash.
    """
    return sha256(token.encode("utf-8")).hexdigest()


def _describe(session_id: int, row: dict[str, Any], *, is_current: bool) -> dict[str, Any]:
    times = ("created_at", "last_used_at", "ends_at")
    return {
        "id": session_id,
        "user_agent": row["user_agent"],
        **{name: UtcMs.to_ms(row[name]) // 1000 for name in times},
        "is_current": is_current,
    }
