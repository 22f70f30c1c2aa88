"""Organizations. The operator creates them, each at a separate host."""

from datetime import datetime

from sqlalchemy import bindparam, select, union_all
from sqlalchemy.orm import Session

from models.chat.access.group_settings import REALM_GROUPS
from models.chat.access.groups import create_system_groups
from models.chat.common import audit
from models.chat.common.hosts import check_host
from models.chat.identity.actors import RealmView, find_realm, find_realm_at
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import BotType, Role
from models.chat.organization.errors import (
    HostInUse,
    InvalidRealmName,
    RealmDoesNotExist,
    RealmStopped,
)
from models.chat.people.full_names import NOTIFICATION_BOT
from models.chat.people.users import create_user
from models.chat.tables import ChatImport, Realm, User
from specd.db import Db, Query

NAME_MAX = 40


def create_realm(
    session: Session,
    keys: KeyMaker,
    *,
    name: str,
    host: str,
    owner_email: str,
    owner_name: str,
    now: datetime,
    owner_password_hash: str | None = None,
) -> tuple[Realm, User, str]:
    """Create an organization with its system groups, its owner and its notification bot. Return the
    realm, the owner and the owner's API key.

    Raise `InvalidRealmName`, `InvalidHost`, `HostInUse`, or an error of `create_user`.
    """
    name, host = check_realm_name(name), check_host(host)
    unfinished = (ChatImport.host == host) & ChatImport.finished_at.is_(None)
    taken = union_all(
        select(Realm.id).where(Realm.host == host), select(ChatImport.id).where(unfinished)
    )
    if session.execute(taken).first() is not None:
        raise HostInUse(host=host)
    realm = Realm(host=host, name=name, date_created=now)
    session.add(realm)
    session.flush()
    groups = create_system_groups(session, realm, now=now)
    for setting in REALM_GROUPS.values():
        setattr(realm, setting.name, groups[setting.default])
    session.flush()
    view = access_realm_by_id(session, realm.id)
    owner, api_key = create_user(
        session,
        keys,
        realm=view,
        email=owner_email,
        full_name=owner_name,
        role=Role.OWNER,
        password_hash=owner_password_hash,
        now=now,
    )
    create_user(
        session,
        keys,
        realm=view,
        email=f"notification-bot@{host}",
        full_name=NOTIFICATION_BOT,
        role=Role.MEMBER,
        bot_type=BotType.GENERIC,
        is_system_bot=True,
        now=now,
    )
    audit.record(session, realm.id, "realm_created", facts={"host": host}, now=now)
    return realm, owner, api_key


def check_realm_name(name: str) -> str:
    """Return the name as it is stored. Raise `InvalidRealmName`."""
    name = name.strip()
    if not 0 < len(name) <= NAME_MAX or not name.isprintable():
        raise InvalidRealmName()
    return name


def access_realm_by_id(session: Session, realm_id: int) -> RealmView:
    """Return a realm by its id. Raise `RealmDoesNotExist`."""
    realm = find_realm(session, realm_id)
    if realm is None:
        raise RealmDoesNotExist(realm=realm_id)
    return realm


def access_realm_named(session: Session, name: str) -> RealmView:
    """Return a realm by the id or host that an operator entered. Raise `RealmDoesNotExist`."""
    if name.isascii() and name.isdigit() and len(name) < 19:
        realm = find_realm(session, int(name))
    else:
        realm = find_realm_at(session, name.strip().lower())
    if realm is None:
        raise RealmDoesNotExist(realm=name)
    return realm


def access_realm_to_change(session: Session, name: str) -> RealmView:
    """Return a realm like `access_realm_named`. Raise `RealmDoesNotExist`, and `RealmStopped` for a
    stopped realm, because the change would be lost.
    """
    realm = access_realm_named(session, name)
    if realm.stopped_at is not None:
        raise RealmStopped(realm=name)
    return realm


def find_notification_bot_id(db: Db, realm_id: int) -> int:
    """Return the id of the bot that sends the organization's notices."""
    (bot_id,) = _NOTIFICATION_BOT.one(db, {"realm_id": realm_id})
    return bot_id


_NOTIFICATION_BOT = Query(
    select(User.id).where(User.realm_id == bindparam("realm_id"), User.is_system_bot)
)
