"""Single-use links for a person's browser, which must not have their API key.

A link is sealed: it names its user and its expiry, and only the server can create one. Nothing is
stored until it is used; then it is recorded as spent. It also ends with the API key that its user
had when it was created: whoever stole a key has no link left once the key is renewed.
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
    """An opened link. `key` identifies it among the spent ones."""

    key: str
    user_id: int
    ends_at: datetime


def make_link(vault: Vault, actor: Actor, *, purpose: str, now: datetime) -> str:
    """Return a new link of the actor's, as one segment of a URL, valid for `purpose` alone."""
    facts = [secrets.token_hex(16), actor.id, UtcMs.to_ms(now + LIFETIME), key_mark_of(actor)]
    return vault.seal(orjson.dumps(facts).decode(), purpose=purpose)


def find_link(
    db: Db, vault: Vault, text: str, *, purpose: str, realm_id: int, now: datetime
) -> tuple[Link, Actor] | None:
    """Return the link and its user; None if it is expired or spent, or if its user may not use the
    realm or has another API key now. Raise `RealmMoving`.
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
    """Return a mark that changes with the actor's API key and does not reveal it."""
    return actor.api_key_sha256[:KEY_MARK_LENGTH]


def try_spend(session: Session, link: Link, *, now: datetime) -> bool:
    """Spend the link and delete the expired ones. Return False if it was spent before."""
    session.execute(delete(SPENT).where(SPENT.c.ends_at < now - LIFETIME))
    spent = upsert(SPENT)
    spent = spent.values(key=link.key, ends_at=link.ends_at).on_conflict_do_nothing()
    added = spent.returning(SPENT.c.key)
    return session.execute(added).first() is not None
