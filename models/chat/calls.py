"""Video calls: authorizations at the vendor, and the tokens that it issues.

The document's paths contain `vendor`. Zulip's path contains the name of its vendor, like the texts
that its clients match.

A session is one authorization of this server at the vendor. The vendor redirects the user's browser
to the server with the `state` that the server sent. The state is sealed, so only the server can
create or read it. It identifies the user, the link that they used, and the browser, by a cookie
that only this browser has. Otherwise an attacker could begin an authorization that another user
completes with their vendor account.

The OAuth 2 tokens are stored sealed. A vendor accepts a refresh token once. Therefore the first
request that refreshes takes a lease on the row, and other requests wait for the result. Every
change contains the generation of the tokens that it replaces, and a late change has no effect.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import orjson
from sqlalchemy import bindparam, delete, or_, select, update
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.account import HasVendorTokenEvent, HasZoomTokenEvent
from models.chat.identity.actors import Actor, find_actor, find_writer
from models.chat.identity.errors import Unauthorized
from models.chat.identity.links import Link, key_mark_of
from models.chat.tables import User, VendorToken
from specd.db import Db, UtcMs


class VendorNotConfigured(ChatError):
    """The server has no video call vendor."""

    sentence = "Video call credentials have not been configured"
    advice = "Ask the operator of the server to configure a vendor."


class InvalidVendorToken(ChatError):
    """The user has not authorized the server at the vendor, or the authorization has ended."""

    code = "INVALID_VENDOR_TOKEN"
    sentence = "Invalid video call access token"
    advice = (
        "Ask the user to open the link of `GET /calls/vendor/register` in a browser, then "
        "try again."
    )


class CallNotCreated(ChatError):
    """The vendor failed to create the call."""

    sentence = "Failed to create video call"
    advice = "Try again in a moment. If the error persists, use another video call service."


class ZoomNotConfigured(VendorNotConfigured):
    """The server has no video call vendor. This is the error of the path with the vendor's name."""

    sentence = "Zoom credentials have not been configured"


class InvalidZoomToken(InvalidVendorToken):
    """The same as `INVALID_VENDOR_TOKEN`, for the path with the vendor's name."""

    code = "INVALID_ZOOM_TOKEN"
    sentence = "Invalid Zoom access token"


class ZoomCallNotCreated(CallNotCreated):
    """The vendor failed to create the call. This is the error of the path with the vendor's
    name.
    """

    sentence = "Failed to create Zoom call"


class InvalidVendorSession(ChatError):
    """The authorization was not started by this user in this browser, or it has expired."""

    sentence = "Invalid video call session identifier"
    advice = "Start the authorization again in the same browser."


class InvalidVendorCredentials(ChatError):
    """The vendor refused the authorization code and issued no tokens."""

    sentence = "Invalid video call credentials"
    advice = "Start the authorization again, and grant the rights that the vendor lists."


class NotFromVendor(Unauthorized):
    """The notice does not contain the token that the vendor and this server share."""

    sentence = "This notice is not the vendor's"
    advice = (
        "Clients cannot fix this. The operator must configure the same token on the server "
        "and at the vendor."
    )


SESSION_LIFETIME = timedelta(minutes=10)
LINK = "vendor_link"
"""The purpose of links that begin an authorization."""
_SESSION_PURPOSE = "vendor_state"


@dataclass(frozen=True, slots=True)
class VendorSession:
    """An authorization in progress. `verifier` is for PKCE. `browser` and `verifier` are
    secrets.
    """

    user_id: int
    redirect_uri: str
    link: Link
    key_mark: str
    browser: str = field(repr=False)
    verifier: str = field(repr=False)

    @property
    def challenge(self) -> str:
        """Return the challenge for the verifier, which is sent to the vendor (RFC 7636, S256)."""
        digest = hashlib.sha256(self.verifier.encode("ascii")).digest()
        return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")

    def state(self, vault: Vault, *, now: datetime) -> str:
        """Return the `state` that is sent to the vendor and returned by it."""
        until = UtcMs.to_ms(now + SESSION_LIFETIME)
        facts = [self.user_id, self.redirect_uri, self.browser, self.verifier, until, self.key_mark]
        facts += [self.link.key, UtcMs.to_ms(self.link.ends_at)]
        return vault.seal(orjson.dumps(facts).decode(), purpose=_SESSION_PURPOSE)


def user_of_state(vault: Vault, state: str) -> int | None:
    """Return the id of the user in a state, or None if the state is invalid."""
    opened = vault.open(state, purpose=_SESSION_PURPOSE)
    return None if opened is None else int(orjson.loads(opened)[0])


def begin_session(actor: Actor, link: Link, redirect_uri: str) -> VendorSession:
    """Return a new authorization of the actor, who used the link."""
    browser, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
    return VendorSession(actor.id, redirect_uri, link, key_mark_of(actor), browser, verifier)


def access_session(
    db: Db, vault: Vault, state: str, *, realm_id: int, browser: str | None, now: datetime
) -> tuple[VendorSession, Actor]:
    """Return the authorization in a state, and its user. The user must still be active in the realm
    with the same API key. A write unit locks the user's row.

    Raise `InvalidVendorSession`, `RealmMoving`.
    """
    opened = vault.open(state, purpose=_SESSION_PURPOSE)
    if opened is None:
        raise InvalidVendorSession()
    user_id, redirect_uri, cookie, verifier, until, key_mark, key, ends = orjson.loads(opened)
    actor = find_writer(db, user_id) if isinstance(db, Session) else find_actor(db, user_id)
    if (
        UtcMs.to_ms(now) >= until
        or not hmac.compare_digest(cookie.encode(), (browser or "").encode())
        or actor is None
        or actor.realm_id != realm_id
        or actor.realm.is_deactivated
        or not actor.is_active
        or key_mark_of(actor) != key_mark
    ):
        raise InvalidVendorSession()
    actor.realm.require_running()
    link = Link(key, user_id, datetime.fromtimestamp(ends / 1000, UTC))
    return VendorSession(user_id, redirect_uri, link, key_mark, cookie, verifier), actor


EARLY = timedelta(seconds=30)
"""The time before expiry at which a token is refreshed, so that it does not expire during a
call.
"""

EVENTS = (HasVendorTokenEvent, HasZoomTokenEvent)
"""Each change has an event with the current and one with the older name."""

_FIND = select(
    VendorToken.sealed_tokens,
    VendorToken.generation,
    VendorToken.expires_at,
    VendorToken.refreshing_until,
).where(VendorToken.user_id == bindparam("user_id"))


@dataclass(frozen=True, slots=True)
class VendorTokens:
    """A user's tokens at the vendor."""

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
    """Return whether the user has authorized this server at the vendor."""
    return db.execute(_FIND, {"user_id": user_id}).first() is not None


def find_tokens(db: Db, vault: Vault, user_id: int) -> VendorTokens | None:
    """Return the user's tokens, or None if there are none that can be opened."""
    row = db.execute(_FIND, {"user_id": user_id}).first()
    opened = None if row is None else vault.open(row.sealed_tokens, purpose=purpose_of(user_id))
    if row is None or opened is None:
        return None
    access, refresh = orjson.loads(opened)
    return VendorTokens(access, refresh, row.generation, row.expires_at, row.refreshing_until)


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
    """Store the access token and the refresh token of a new authorization. Earlier tokens are
    replaced.
    """
    row = session.get(VendorToken, user_id, with_for_update=True)
    if row is None:
        # Random, so that a refresh of tokens from a deleted row does not match this row.
        row = VendorToken(user_id=user_id, generation=secrets.randbelow(2**30))
        session.add(row)
    row.vendor_user_id = vendor_user_id
    row.sealed_tokens = _seal(vault, user_id, tokens)
    row.generation += 1
    row.expires_at = expires_at
    row.refreshing_until = None
    session.flush()
    _append_events(session, realm_id, [user_id], True, now)


def try_claim_refresh(
    session: Session, user_id: int, generation: int, *, lease: timedelta, now: datetime
) -> bool:
    """Take the lease to refresh these tokens. Return False if it is taken or the tokens were
    replaced.
    """
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


def store_refreshed_tokens(
    session: Session,
    vault: Vault,
    user_id: int,
    generation: int,
    *,
    tokens: tuple[str, str],
    expires_at: datetime,
) -> None:
    """Replace the tokens of this generation and end the lease."""
    new = {
        "sealed_tokens": _seal(vault, user_id, tokens),
        "generation": generation + 1,
        "expires_at": expires_at,
    }
    _end_lease(session, user_id, generation, new)


def release_refresh(session: Session, user_id: int, generation: int) -> None:
    """End the lease without new tokens."""
    _end_lease(session, user_id, generation, {})


def _end_lease(session: Session, user_id: int, generation: int, new: Mapping[str, object]) -> None:
    session.execute(
        update(VendorToken)
        .where(VendorToken.user_id == user_id, VendorToken.generation == generation)
        .values(refreshing_until=None, **new)
    )


def forget_tokens(
    session: Session,
    realm_id: int,
    user_ids: Collection[int],
    *,
    generation: int | None = None,
    now: datetime,
) -> None:
    """Delete the tokens of users of a realm, or only those of the given generation."""
    named = delete(VendorToken).where(VendorToken.user_id.in_(user_ids))
    if generation is not None:
        named = named.where(VendorToken.generation == generation)
    deleted = session.execute(named.returning(VendorToken.user_id)).scalars()
    _append_events(session, realm_id, sorted(deleted), False, now)


def forget_vendor_user(session: Session, vendor_user_id: str, *, now: datetime) -> None:
    """Delete the tokens of users who have withdrawn their authorization at the vendor."""
    rows = session.execute(
        select(User.realm_id, User.id)
        .join(VendorToken, VendorToken.user_id == User.id)
        .where(VendorToken.vendor_user_id == vendor_user_id)
        .order_by(User.id)
    )
    for realm_id, user_id in rows.all():
        forget_tokens(session, realm_id, [user_id], now=now)


def _append_events(
    session: Session, realm_id: int, user_ids: Sequence[int], value: bool, now: datetime
) -> None:
    events = [(kind(value=value), [user_id]) for kind in EVENTS for user_id in user_ids]
    log.append_all(session, realm_id, events, now=now)


def _seal(vault: Vault, user_id: int, tokens: tuple[str, str]) -> str:
    return vault.seal(orjson.dumps(tokens).decode(), purpose=purpose_of(user_id))


def purpose_of(user_id: int) -> str:
    return f"vendor_tokens:{user_id}"
