"""Sign in: find the account of a real email address, check its state, and return its API key."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.identity import django_hashes
from models.chat.identity.actors import RealmView, find_writer
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.errors import (
    AuthenticationFailed,
    SignInDeactivated,
    SignInRealmDeactivated,
)
from models.chat.tables import Realm, User
from specd.db import Db

_ID_BY_EMAIL = (
    select(User.id)
    .select_from(Realm)
    .outerjoin(User, (User.realm_id == Realm.id) & (User.email_key == bindparam("email_key")))
    .where(Realm.id == bindparam("realm_id"))
)
_BY_ID = select(
    User.id, User.delivery_email, User.is_active, User.password_hash, User.is_system_bot
).where(User.id == bindparam("user_id"))
_IMPORTED = (
    select(User.password_hash)
    .where(
        User.realm_id == bindparam("realm_id"),
        User.password_hash.is_not(None),
        User.password_hash.not_like("$argon2%"),  # our hashes
    )
    .order_by(User.id)
    .limit(100)
)
DECOY_ID = 1
"""The id of a user who almost always exists. If the address has no account, this user is read and
discarded.
"""


@dataclass(frozen=True, slots=True)
class Account:
    """A user who signs in."""

    id: int
    delivery_email: str
    is_active: bool
    password_hash: str | None = field(repr=False)


def find_account(db: Db, realm: RealmView, email: str) -> Account | None:
    """Return the account with this real email in any state, or None if there is none.

    Unknown and known addresses take the same time: both look up one index entry and then read one
    user.
    """
    key = {"realm_id": realm.id, "email_key": email.strip().casefold()}
    user_id = db.execute(_ID_BY_EMAIL, key).scalar_one()
    row = db.execute(_BY_ID, {"user_id": user_id or DECOY_ID}).first()
    if row is None or user_id is None or row.is_system_bot:
        return None
    return Account(row.id, row.delivery_email, row.is_active, row.password_hash)


def find_imported_hashes(db: Db, realm: RealmView) -> tuple[str, ...]:
    """Return the argument `imported` of `passwords.is_password`, from the organization's imported
    hashes that no sign-in has replaced yet.
    """
    hashes = db.execute(_IMPORTED, {"realm_id": realm.id}).scalars()
    return django_hashes.usual(filter(None, hashes))


def require_usable(realm: RealmView, account: Account | None) -> Account:
    """Return the account. Raise `AuthenticationFailed` for None, `SignInRealmDeactivated`,
    `SignInDeactivated`.
    """
    if account is None:
        raise AuthenticationFailed()
    if realm.is_deactivated:
        raise SignInRealmDeactivated()
    if not account.is_active:
        raise SignInDeactivated()
    return account


def reveal_key(
    session: Session,
    keys: KeyMaker,
    account: Account,
    *,
    by: str,
    now: datetime,
    new_hash: str | None = None,
) -> str:
    """Return the account's API key. The first sign-in to an account that an administrator created
    sets its joining date.

    `by` is the proof of identity, for the audit log. `new_hash` replaces the hash of the password.
    The account is checked again, because it may have changed meanwhile. Raise an error of
    `require_usable`.
    """
    writer = find_writer(session, account.id)
    user = session.get_one(User, account.id, populate_existing=True)
    current = Account(user.id, user.delivery_email, user.is_active, user.password_hash)
    if writer is None or current != replace(account, is_active=user.is_active):
        raise AuthenticationFailed()
    writer.realm.require_running()
    require_usable(writer.realm, current)
    if new_hash is not None:
        user.password_hash = new_hash
    facts = {"by": by}
    audit.record(
        session, user.realm_id, "signed_in", actor_id=user.id, user_id=user.id, facts=facts, now=now
    )
    if user.awaits_first_sign_in:
        user.awaits_first_sign_in = False
        user.date_joined = now
    return keys.key_of(user)
