"""Links that work once, for a person's browser, which must not have their API key.

A link is sealed: it names whose it is and until when, and cannot be made by anybody else. Nothing
is kept of it until it is used; then it is spent. It ends with the API key that it was made with:
whoever renews a key that somebody else had has not left them a link.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import orjson
from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.common.vault import Vault
from models.chat.identity.actors import Actor, find_actor
from models.chat.tables import SpentLink
from models.dialects import upsert
from models.reader import Db
from models.types import to_ms

LIFETIME = timedelta(minutes=10)
KEY_MARK_LENGTH = 16
SPENT = table_of(SpentLink)
_BY_KEY = select(SPENT.c.key).where(SPENT.c.key == bindparam("key"))


@dataclass(frozen=True, slots=True)
class Link:
    """A link that was opened. `key` names it among those that are spent."""

    key: str
    user_id: int
    ends_at: datetime


def make_link(vault: Vault, actor: Actor, *, purpose: str, now: datetime) -> str:
    """A new link of the actor's, as one part of an address; good for `purpose` alone."""
    facts = [secrets.token_hex(16), actor.id, to_ms(now + LIFETIME), key_mark_of(actor)]
    return vault.seal(orjson.dumps(facts).decode(), purpose=purpose)


def find_link(
    db: Db, vault: Vault, text: str, *, purpose: str, realm_id: int, now: datetime
) -> tuple[Link, Actor] | None:
    """The link and whose it is, as they are now; None unless it is new, unspent, and of somebody
    who is welcome in the realm and has still the same API key.
    """
    opened = vault.open(text, purpose=purpose)
    if opened is None:
        return None
    key, user_id, until, key_mark = orjson.loads(opened)
    actor = find_actor(db, user_id)
    if (
        to_ms(now) >= until
        or actor is None
        or actor.realm_id != realm_id
        or actor.realm.is_deactivated
        or not actor.is_active
        or key_mark_of(actor) != key_mark
        or db.execute(_BY_KEY, {"key": key}).first() is not None
    ):
        return None
    return Link(key, user_id, datetime.fromtimestamp(until / 1000, UTC)), actor


def key_mark_of(actor: Actor) -> str:
    """What tells the actor's API key from the ones before and after it, and opens nothing."""
    return actor.api_key_sha256[:KEY_MARK_LENGTH]


def try_spend(session: Session, link: Link, *, now: datetime) -> bool:
    """Use the link up; False when somebody else was first. Forgets those that have ended."""
    session.execute(delete(SPENT).where(SPENT.c.ends_at < now - LIFETIME))
    spent = upsert(SPENT)
    spent = spent.values(key=link.key, ends_at=link.ends_at).on_conflict_do_nothing()
    added = spent.returning(SPENT.c.key)
    return session.execute(added).first() is not None
