"""New API keys for old ones: one's own, another's as the operator gives it, all of a realm's.

The old key is refused from the moment the unit ends, by every process: requests find their user by
the key's digest, in the database. Whoever had the old key loses with it what they may have set up:
devices for push notifications, a vendor's account that makes their video calls, an email address
that waits to be confirmed, and invitations. Links made with it end too
(models/chat/identity/links.py).
"""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.chat.accounts.administering import access_named, await_writes_of
from models.chat.accounts.invitations import forget_invitations
from models.chat.calls import forget_tokens
from models.chat.common import audit
from models.chat.events import log
from models.chat.events.account import DeviceRemoveEvent
from models.chat.identity.actors import RealmView
from models.chat.identity.api_keys import KeyMaker
from models.chat.tables import ClientDevice, EmailChange, User

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
    """Give the user another API key, which is returned. `actor_id`: None for the operator."""
    await_writes_of(session, [user_id])
    user = session.get_one(User, user_id, populate_existing=True)
    key = keys.renew(user)
    session.flush()
    _forget_what_hung_on_it(session, realm.id, [user_id], now)
    audit.record(
        session, realm.id, "user_api_key_renewed", actor_id=actor_id, user_id=user_id, now=now
    )
    return key


def renew_named_key(
    session: Session, keys: KeyMaker, realm: RealmView, email: str, *, now: datetime
) -> tuple[int, str]:
    """The same for a person or a bot by their real email: id and key. Raises `NoUserWithEmail`."""
    user = access_named(session, realm, email)
    return user.id, renew_key(session, keys, realm, user.id, actor_id=None, now=now)


def revoke_some_keys(
    session: Session, *, keys: KeyMaker, realm: RealmView, after_id: int, now: datetime
) -> tuple[int, int]:
    """Replace the keys of the next users after that id, active or not: how many, and the last id.

    Nobody is told the new keys: people sign in again, bots get theirs from the operator.
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
    _forget_what_hung_on_it(session, realm.id, ids, now)
    return len(ids), ids[-1] if ids else after_id


def note_revocation(session: Session, realm: RealmView, count: int, *, now: datetime) -> None:
    """One line in the audit log for all keys of the realm."""
    facts = {"keys": count}
    audit.record(session, realm.id, "realm_api_keys_revoked", facts=facts, now=now)


def _forget_what_hung_on_it(
    session: Session, realm_id: int, user_ids: Collection[int], now: datetime
) -> None:
    connection = session.connection()
    connection.execute(delete(EmailChange).where(EmailChange.user_id.in_(user_ids)))
    gone = connection.execute(
        delete(ClientDevice)
        .where(ClientDevice.user_id.in_(user_ids))
        .returning(ClientDevice.user_id, ClientDevice.id)
    )
    told = [
        (DeviceRemoveEvent(device_id=device_id), [user_id])
        for user_id, device_id in sorted((row.user_id, row.id) for row in gone)
    ]
    log.append_all(session, realm_id, told, now=now)
    forget_tokens(session, realm_id, user_ids, now=now)
    forget_invitations(session, realm_id, user_ids, now=now)
