"""Renew API keys: a user's key, a named user's key for the operator, or all keys of a realm.

Every process rejects the old key after the commit, because requests find their user by the key's
digest in the database. Objects that may have been created with the old key are deleted: devices for
push notifications, the account at the vendor of video calls, an unconfirmed email address, browser
sessions, and invitations. Links created with the key also end (models/chat/identity/links.py).
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.chat.accounts.administering import access_named, await_writes_of
from models.chat.calls import forget_tokens
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.account import DeviceRemoveEvent
from models.chat.events.organization import InvitesChangedEvent
from models.chat.identity.actors import RealmView
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.browser_sessions import end_sessions_of
from models.chat.tables import ClientDevice, EmailChange, Invitation, User
from models.dialects import id_in

BATCH = 500


def renew_key(
    session: Session,
    keys: KeyMaker,
    realm: RealmView,
    user_id: int,
    *,
    actor_id: int | None,
    now: datetime,
) -> str:
    """Give the user a new API key, and return it. `actor_id` is None for the operator."""
    await_writes_of(session, [user_id])
    user = session.get_one(User, user_id, populate_existing=True)
    key = keys.renew(user)
    session.flush()
    _delete_what_keys_made(session, realm.id, [user_id], now)
    audit.record(
        session, realm.id, "user_api_key_renewed", actor_id=actor_id, user_id=user_id, now=now
    )
    return key


def renew_named_key(
    session: Session,
    keys: KeyMaker,
    realm: RealmView,
    email: str,
    *,
    password_hash: str | None = None,
    now: datetime,
) -> tuple[int, str]:
    """Renew the key of a user by real email. If `password_hash` is given and the user is not a bot,
    also set the password. Return id and key. Raise `NoUserWithEmail`.
    """
    user = access_named(session, realm, email)
    key = renew_key(session, keys, realm, user.id, actor_id=None, now=now)
    if password_hash is not None and user.bot_type is None:
        user.password_hash = password_hash
        audit.record(session, realm.id, "user_password_changed", user_id=user.id, now=now)
    return user.id, key


def revoke_some_keys(
    session: Session, *, keys: KeyMaker, realm: RealmView, after_id: int, now: datetime
) -> tuple[int, int]:
    """Replace the keys of the next users after that id, active or not. Return their number and the
    last id. The new keys are not shown: users sign in again, and the operator renews the keys of
    bots.
    """
    users = session.scalars(
        select(User)
        .where(User.realm_id == realm.id, User.id > after_id)
        .order_by(User.id)
        .limit(BATCH)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).all()
    for user in users:
        keys.renew(user)
    session.flush()
    ids = [user.id for user in users]
    _delete_what_keys_made(session, realm.id, ids, now)
    return len(ids), ids[-1] if ids else after_id


def note_revocation(session: Session, realm: RealmView, count: int, *, now: datetime) -> None:
    """Record in the audit log that all keys of the realm were revoked."""
    facts = {"keys": count}
    audit.record(session, realm.id, "realm_api_keys_revoked", facts=facts, now=now)


def _delete_what_keys_made(
    session: Session, realm_id: int, user_ids: Collection[int], now: datetime
) -> None:
    connection = session.connection()
    connection.execute(delete(EmailChange).where(EmailChange.user_id.in_(user_ids)))
    end_sessions_of(session, user_ids)
    devices = connection.execute(
        delete(ClientDevice)
        .where(ClientDevice.user_id.in_(user_ids))
        .returning(ClientDevice.user_id, ClientDevice.id)
    )
    events = [
        (DeviceRemoveEvent(device_id=device_id), [user_id])
        for user_id, device_id in sorted((row.user_id, row.id) for row in devices)
    ]
    log.append_all(session, realm_id, events, now=now)
    forget_tokens(session, realm_id, user_ids, now=now)
    delete_invitations(session, realm_id, user_ids, now=now)


def delete_invitations(
    session: Session, realm_id: int, user_ids: Collection[int], *, now: datetime
) -> None:
    """Delete the invitations of these users, whose API keys or accounts end."""
    deletion = delete(Invitation).where(id_in(Invitation.inviter_id, user_ids))
    deleted = session.connection().execute(deletion.returning(Invitation.id))
    if deleted.first() is not None:
        log.append(session, realm_id, InvitesChangedEvent(), to_administrators=True, now=now)
