"""Signing in: from a real email to an account that may be used, and to its API key."""

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.actors import Reader, RealmView
from models.chat.api_keys import KeyMaker
from models.chat.errors.identity import (
    AuthenticationFailed,
    SignInDeactivated,
    SignInRealmDeactivated,
)
from models.chat.tables import Realm, User

_BY_EMAIL: Any = (
    select(User.id, User.delivery_email, User.is_active, User.password_hash)
    .select_from(Realm)
    .outerjoin(
        User,
        (User.realm_id == Realm.id)
        & (User.email_key == bindparam("email_key"))
        & ~User.is_system_bot,
    )
    .where(Realm.id == bindparam("realm_id"))
)


def find_account(reader: Reader, realm: RealmView, email: str) -> Any:
    """Row of the account with that real email, in any state; its id is None where there is none.

    A row comes back either way: finding an account must not take longer than finding none.
    """
    key = {"realm_id": realm.id, "email_key": email.strip().casefold()}
    return reader.execute(_BY_EMAIL, key).one()


def require_usable(realm: RealmView, account: Any) -> Any:
    """The account. Raises `AuthenticationFailed` where there is none, `SignInRealmDeactivated`,
    `SignInDeactivated`.
    """
    if account is None or account.id is None:
        raise AuthenticationFailed()
    if realm.is_deactivated:
        raise SignInRealmDeactivated()
    if not account.is_active:
        raise SignInDeactivated()
    return account


def tell_key(session: Session, keys: KeyMaker, account: Any, *, now: datetime) -> str:
    """The account's API key, made again. Whoever was given their account joins now."""
    user = session.get_one(User, account.id)
    if user.awaits_first_sign_in:
        user.awaits_first_sign_in = False
        user.date_joined = now
    return keys.key_of(user)
