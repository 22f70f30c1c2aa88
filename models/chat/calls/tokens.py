"""Users' OAuth 2 tokens at the video-call vendor: kept sealed, refreshed by one, forgotten.

A vendor takes a refresh token once. So whoever refreshes first takes a lease on the row; the others
wait for what they bring. Every change names the generation it is about, and one that comes late
changes nothing.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import orjson
from sqlalchemy import bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.account import HasVendorTokenEvent, HasZoomTokenEvent
from models.chat.ground.vault import Vault
from models.chat.tables import User, VendorToken
from models.reader import Db

EARLY = timedelta(seconds=30)
"""A token is refreshed this long before it expires: a call must not find it just expired."""

EVENTS = (HasVendorTokenEvent, HasZoomTokenEvent)
"""Each change is told under both names."""

_FIND = select(
    VendorToken.sealed_tokens,
    VendorToken.generation,
    VendorToken.expires_at,
    VendorToken.refreshing_until,
).where(VendorToken.user_id == bindparam("user_id"))


@dataclass(frozen=True, slots=True)
class KnownTokens:
    """A user's tokens as they were when they were read."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    generation: int
    expires_at: datetime
    refreshing_until: datetime | None

    def is_fresh(self, now: datetime) -> bool:
        return self.expires_at > now + EARLY

    def is_being_refreshed(self, now: datetime) -> bool:
        return self.refreshing_until is not None and self.refreshing_until > now


def has_token(db: Db, user_id: int) -> bool:
    """Has the user authorized this server at the vendor?"""
    return db.execute(_FIND, {"user_id": user_id}).first() is not None


def find_tokens(db: Db, vault: Vault, user_id: int) -> KnownTokens | None:
    """The user's tokens; None without any that can be opened."""
    row = db.execute(_FIND, {"user_id": user_id}).first()
    opened = None if row is None else vault.open(row.sealed_tokens, purpose=purpose_of(user_id))
    if row is None or opened is None:
        return None
    access, refresh = orjson.loads(opened)
    return KnownTokens(access, refresh, row.generation, row.expires_at, row.refreshing_until)


def store_tokens(
    session: Session,
    vault: Vault,
    *,
    realm_id: int,
    user_id: int,
    vendor_user_id: str,
    tokens: tuple[str, str],
    expires_at: datetime,
    now: datetime,
) -> None:
    """Keep (access token, refresh token) that the user has just brought, whatever was before."""
    row = session.get(VendorToken, user_id, with_for_update=True)
    if row is None:
        # Anywhere: whoever still refreshes tokens of an earlier row must not hit this one.
        row = VendorToken(user_id=user_id, generation=secrets.randbelow(2**30))
        session.add(row)
    row.vendor_user_id = vendor_user_id
    row.sealed_tokens = _seal(vault, user_id, tokens)
    row.generation += 1
    row.expires_at = expires_at
    row.refreshing_until = None
    session.flush()
    _tell(session, realm_id, user_id, True, now)


def try_claim_refresh(
    session: Session, user_id: int, generation: int, *, lease: timedelta, now: datetime
) -> bool:
    """Take the right to refresh these tokens, unless somebody has it or they are replaced."""
    claimed = session.execute(
        update(VendorToken)
        .where(
            VendorToken.user_id == user_id,
            VendorToken.generation == generation,
            or_(VendorToken.refreshing_until.is_(None), VendorToken.refreshing_until <= now),
        )
        .values(refreshing_until=now + lease)
        .returning(VendorToken.user_id)
    )
    return claimed.first() is not None


def keep_refreshed(
    session: Session,
    vault: Vault,
    user_id: int,
    generation: int,
    *,
    tokens: tuple[str, str],
    expires_at: datetime,
) -> None:
    """Replace the tokens of that generation and end the lease."""
    session.execute(
        update(VendorToken)
        .where(VendorToken.user_id == user_id, VendorToken.generation == generation)
        .values(
            sealed_tokens=_seal(vault, user_id, tokens),
            generation=generation + 1,
            expires_at=expires_at,
            refreshing_until=None,
        )
    )


def release_refresh(session: Session, user_id: int, generation: int) -> None:
    """End the lease without new tokens."""
    session.execute(
        update(VendorToken)
        .where(VendorToken.user_id == user_id, VendorToken.generation == generation)
        .values(refreshing_until=None)
    )


def forget_tokens(
    session: Session, realm_id: int, user_id: int, *, generation: int | None = None, now: datetime
) -> None:
    """Forget the user's tokens, or those of that generation only; tells if there were any."""
    named = delete(VendorToken).where(VendorToken.user_id == user_id)
    if generation is not None:
        named = named.where(VendorToken.generation == generation)
    if session.execute(named.returning(VendorToken.user_id)).first() is not None:
        _tell(session, realm_id, user_id, False, now)


def forget_all_tokens(
    session: Session, realm_id: int, user_ids: Collection[int], *, now: datetime
) -> None:
    """The same for many users of a realm."""
    named = delete(VendorToken).where(VendorToken.user_id.in_(user_ids))
    gone = session.execute(named.returning(VendorToken.user_id)).scalars()
    user_ids = sorted(gone)
    for event in EVENTS:
        told = [(event(value=False), [user_id]) for user_id in user_ids]
        log.append_all(session, realm_id, told, now=now)


def forget_vendor_user(session: Session, vendor_user_id: str, *, now: datetime) -> None:
    """The vendor says that this user of theirs has withdrawn: whoever they are here."""
    found = session.execute(
        select(User.realm_id, User.id)
        .join(VendorToken, VendorToken.user_id == User.id)
        .where(VendorToken.vendor_user_id == vendor_user_id)
        .order_by(User.id)
    )
    for realm_id, user_id in found.all():
        forget_tokens(session, realm_id, user_id, now=now)


def _tell(session: Session, realm_id: int, user_id: int, value: bool, now: datetime) -> None:
    for event in EVENTS:
        log.append(session, realm_id, event(value=value), now=now, user_ids=[user_id])


def _seal(vault: Vault, user_id: int, tokens: tuple[str, str]) -> str:
    return vault.seal(orjson.dumps(tokens).decode(), purpose=purpose_of(user_id))


def purpose_of(user_id: int) -> str:
    return f"vendor_tokens:{user_id}"
