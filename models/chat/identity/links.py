"""Single-use links for a user's browser, which must not get the API key.

A link is sealed: it contains its user and its expiry, and only the server can create one. It is
stored only when it is used: then it is recorded as spent. It also ends when the user's API key
changes, so a stolen key gives no access through links after the key is renewed.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson
from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import SpentLink
from specd.db import Db, UtcMs, table_of, upsert

LIFETIME = timedelta(minutes=10)
KEY_MARK_LENGTH = 16
SPENT = table_of(SpentLink)
_BY_KEY = select(SPENT.c.key).where(SPENT.c.key == bindparam("key"))


@dataclass(frozen=True, slots=True)
class Link:
    """An opened link. `key` identifies it among spent links."""

    key: str
    user_id: int
    ends_at: datetime


def make_link(vault: Vault, actor: Actor, *, purpose: str, now: datetime) -> str:
    """Return a new link of the actor as one segment of a URL. It is valid only for `purpose`."""
    facts = [secrets.token_hex(16), actor.id, UtcMs.to_ms(now + LIFETIME), key_mark_of(actor)]
    return vault.seal(orjson.dumps(facts).decode(), purpose=purpose)


def find_link(
    db: Db, vault: Vault, text: str, *, purpose: str, realm_id: int, now: datetime
) -> tuple[Link, Actor] | None:
    """Return the link and its user. Return None if it is expired or spent, or if its user may not
    use the realm or has a new API key. Raise `RealmMoving`.
    """
    opened = vault.open(text, purpose=purpose)
    if opened is None:
        return None
    key, user_id, until, key_mark = orjson.loads(opened)
    actor = find_actor(db, user_id)
    if (
        UtcMs.to_ms(now) >= until
        or actor is None
        or actor.realm_id != realm_id
        or actor.realm.is_deactivated
        or not actor.is_active
        or key_mark_of(actor) != key_mark
        or db.execute(_BY_KEY, {"key": key}).first() is not None
    ):
        return None
    actor.realm.require_running()
    return Link(key, user_id, datetime.fromtimestamp(until / 1000, UTC)), actor


def key_mark_of(actor: Actor) -> str:
    """Return a mark that changes with the actor's API key and does not reveal the key."""
    return actor.api_key_sha256[:KEY_MARK_LENGTH]


def try_spend(session: Session, link: Link, *, now: datetime) -> bool:
    """Mark the link as spent and delete expired marks. Return False if it was already spent."""
    session.execute(delete(SPENT).where(SPENT.c.ends_at < now - LIFETIME))
    spent = upsert(SPENT)
    spent = spent.values(key=link.key, ends_at=link.ends_at).on_conflict_do_nothing()
    added = spent.returning(SPENT.c.key)
    return session.execute(added).first() is not None
