"""The authorization of this server at the video-call vendor, from its beginning to its end.

The vendor sends the user's browser back with the `state` we gave it. It is sealed: nobody can make
or read one. It names the user, the link they came by, and the browser by a cookie that only the
browser which began has; without that, somebody could begin for themselves and have another person's
vendor account end up with theirs.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import orjson
from sqlalchemy.orm import Session

from models.chat.calls.errors import InvalidVendorSession
from models.chat.ground.vault import Vault
from models.chat.identity.actors import Actor, find_actor, find_writer
from models.chat.identity.links import Link, key_mark_of
from models.reader import Db
from models.types import to_ms

LIFETIME = timedelta(minutes=10)
PURPOSE = "vendor_state"


@dataclass(frozen=True, slots=True)
class VendorSession:
    """One authorization under way. `verifier` is PKCE's; all but the challenge are secrets."""

    user_id: int
    redirect_uri: str
    link: Link
    key_mark: str
    browser: str = field(repr=False)
    verifier: str = field(repr=False)

    @property
    def challenge(self) -> str:
        """What the vendor is told of the verifier (RFC 7636, S256)."""
        digest = hashlib.sha256(self.verifier.encode("ascii")).digest()
        return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")

    def state(self, vault: Vault, *, now: datetime) -> str:
        """The text that goes to the vendor and comes back."""
        until = to_ms(now + LIFETIME)
        link = [self.link.key, to_ms(self.link.ends_at)]
        facts = [self.user_id, self.redirect_uri, self.browser, self.verifier, until, self.key_mark]
        facts += link
        return vault.seal(orjson.dumps(facts).decode(), purpose=PURPOSE)


def begin(actor: Actor, link: Link, redirect_uri: str) -> VendorSession:
    """A new authorization of the actor's, who came by that link."""
    browser, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
    return VendorSession(actor.id, redirect_uri, link, key_mark_of(actor), browser, verifier)


def access_session(
    db: Db, vault: Vault, state: str, *, realm_id: int, browser: str | None, now: datetime
) -> tuple[VendorSession, Actor]:
    """The authorization that a state is of, and its user, who must still be welcome in the realm
    and have the same API key, in a write unit until it ends.

    Raises `InvalidVendorSession`.
    """
    opened = vault.open(state, purpose=PURPOSE)
    if opened is None:
        raise InvalidVendorSession()
    user_id, redirect_uri, began_in, verifier, until, key_mark, key, ends = orjson.loads(opened)
    actor = find_writer(db, user_id) if isinstance(db, Session) else find_actor(db, user_id)
    if (
        to_ms(now) >= until
        or not hmac.compare_digest(began_in.encode(), (browser or "").encode())
        or actor is None
        or actor.realm_id != realm_id
        or actor.realm.is_deactivated
        or not actor.is_active
        or key_mark_of(actor) != key_mark
    ):
        raise InvalidVendorSession()
    link = Link(key, user_id, datetime.fromtimestamp(ends / 1000, UTC))
    return VendorSession(user_id, redirect_uri, link, key_mark, began_in, verifier), actor
