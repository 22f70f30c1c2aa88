"""Stored invitations: create, find, describe and delete them."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple

import orjson
from sqlalchemy import BindParameter, ColumnElement, bindparam, delete, or_, select
from sqlalchemy.orm import Session

from models.chat.accounts.resealing import invitation_purpose
from models.chat.common.vault import Vault
from models.chat.events import log
from models.chat.events.organization import InvitesChangedEvent
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import Invitation
from models.rows import columns_of, read_rows
from specd.db import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The checked terms of an invitation: the role, channels and groups of the new user. If
    `lifetime` is None, the invitation does not expire.
    """

    role: int
    channel_ids: Sequence[int]
    group_ids: Sequence[int]
    joins_default_channels: bool
    tells_inviter: bool
    lifetime: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTerms:
    """Checked new terms of a link; None means no change."""

    role: int | None = None
    channel_ids: Sequence[int] | None = None
    group_ids: Sequence[int] | None = None
    joins_default_channels: bool | None = None


def digest_of(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def make_token() -> str:
    return secrets.token_urlsafe(32)


def new_invitation(
    actor: Actor, terms: Terms, token: str, *, email: str | None, now: datetime
) -> Invitation:
    """Return a new invitation, not yet stored, for an address, or for a link if `email` is None."""
    return Invitation(
        realm_id=actor.realm_id,
        inviter_id=actor.id,
        email=email,
        email_key=None if email is None else email.casefold(),
        role=int(terms.role),
        channel_ids=orjson.dumps(list(terms.channel_ids)).decode(),
        group_ids=orjson.dumps(list(terms.group_ids)).decode(),
        joins_default_channels=terms.joins_default_channels,
        tells_inviter=terms.tells_inviter,
        token_sha256=digest_of(token),
        created_at=now,
        expires_at=None if terms.lifetime is None else now + terms.lifetime,
    )


class _Row(NamedTuple):
    id: int
    inviter_id: int
    email: str | None
    role: int
    channel_ids: str
    group_ids: str
    joins_default_channels: bool
    tells_inviter: bool
    token_sha256: str
    sealed_token: str | None
    created_at: datetime
    expires_at: datetime | None


_AT: BindParameter[datetime] = bindparam("at")
_CURRENT = or_(Invitation.expires_at.is_(None), Invitation.expires_at > _AT)
_SHOWN = (
    select(*columns_of(_Row, Invitation))
    .where(Invitation.realm_id == bindparam("realm_id"), Invitation.link_id.is_(None), _CURRENT)
    .order_by(Invitation.id)
)


def find_invitations(
    db: Db, vault: Vault, actor: Actor, *, base_url: str, now: datetime
) -> list[dict[str, Any]]:
    """Return the valid invitations that the actor may revoke in the API's form, ordered by id.
    Administrators may revoke all invitations, other users their own. Invitations requested through
    a link are left out.
    """
    query = _SHOWN if actor.is_administrator else _SHOWN.where(Invitation.inviter_id == actor.id)
    rows = read_rows(_Row, db.execute(query, {"realm_id": actor.realm_id, "at": now}))
    return [_describe(row, vault, base_url) for row in rows]


def _describe(row: _Row, vault: Vault, base_url: str) -> dict[str, Any]:
    shown = {
        "id": row.id,
        "invited_by_user_id": row.inviter_id,
        "invited": int(row.created_at.timestamp()),
        "expiry_date": None if row.expires_at is None else int(row.expires_at.timestamp()),
        "invited_as": row.role,
        "is_multiuse": row.email is None,
        "stream_ids": orjson.loads(row.channel_ids),
        "group_ids": orjson.loads(row.group_ids),
        "include_realm_default_subscriptions": row.joins_default_channels,
    }
    if row.email is not None:
        return {**shown, "email": row.email, "notify_referrer_on_join": row.tells_inviter}
    assert row.sealed_token is not None
    token = vault.open(row.sealed_token, purpose=invitation_purpose(row.token_sha256))
    return shown if token is None else {**shown, "link_url": address_of(base_url, token)}


def address_of(base_url: str, token: str) -> str:
    """Return the URL for accepting an invitation. `base_url` ends with `/api/v1`."""
    return f"{base_url}/accounts/join/{token}"


def lock_invitation(
    session: Session, which: ColumnElement[bool], now: datetime
) -> Invitation | None:
    """Return the valid invitation, locked, or None if there is none or it ended meanwhile."""
    return session.scalars(
        select(Invitation)
        .where(which, _CURRENT)
        .with_for_update()
        .execution_options(populate_existing=True),
        {"at": now},
    ).first()


def forget(session: Session, which: ColumnElement[bool]) -> bool:
    """Delete invitations. With a link, invitations requested through it are also deleted. Return
    whether there were any.
    """
    deletion = delete(Invitation).where(which).execution_options(synchronize_session=False)
    return session.execute(deletion.returning(Invitation.id)).first() is not None


def notify_changed(session: Session, realm_id: int, inviter_id: int, *, now: datetime) -> None:
    """Notify administrators and the inviter that the list of invitations has changed."""
    event = InvitesChangedEvent()
    log.append(session, realm_id, event, to_administrators=True, now=now)
    inviter = find_actor(session, inviter_id)
    if inviter is not None and not inviter.is_administrator:
        log.append(session, realm_id, event, user_ids=[inviter_id], now=now)
