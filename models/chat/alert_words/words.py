"""A user's alert words: listed, added and removed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import cast

from sqlalchemy import Table, bindparam, delete, insert, select
from sqlalchemy.orm import Session

from models.chat.alert_words.matching import first_part, key_of
from models.chat.events import log
from models.chat.events.account import AlertWordsEvent
from models.chat.ground.one_line import require_one_line
from models.chat.identity.actors import Actor
from models.chat.tables import AlertWord
from models.reader import Db

_TABLE = cast(Table, AlertWord.__table__)
_MINE = (
    select(_TABLE.c.word).where(_TABLE.c.user_id == bindparam("of_user_id")).order_by(_TABLE.c.id)
)


def find_alert_words(db: Db, actor: Actor) -> list[str]:
    """The actor's alert words, in the order and the case in which they were added."""
    return list(db.execute(_MINE, {"of_user_id": actor.id}).scalars())


def add_alert_words(
    session: Session, actor: Actor, words: Iterable[str], *, now: datetime
) -> list[str]:
    """All words of the actor, after these were added but for those that are there, in any case.

    Raises `NotOneLine`.
    """
    words = [require_one_line("alert_words", word.strip()) for word in words]
    held = find_alert_words(session, actor)
    known = {key_of(word) for word in held}
    new = {key_of(word): word for word in reversed(words)}
    rows = [
        {
            "realm_id": actor.realm_id,
            "user_id": actor.id,
            "word": word,
            "word_key": key,
            "first_part": first_part(key),
        }
        for key, word in reversed(new.items())
        if key and key not in known
    ]
    if not rows:
        return held
    session.connection().execute(insert(_TABLE), rows)
    return _tell(session, actor, now)


def remove_alert_words(
    session: Session, actor: Actor, words: Sequence[str], *, now: datetime
) -> list[str]:
    """All words of the actor, after these were removed, in any case; unknown ones are ignored."""
    keys = sorted({key_of(word) for word in words})
    mine = delete(_TABLE).where(_TABLE.c.user_id == actor.id, _TABLE.c.word_key.in_(keys))
    if session.connection().execute(mine.returning(_TABLE.c.id)).first() is None:
        return find_alert_words(session, actor)
    return _tell(session, actor, now)


def _tell(session: Session, actor: Actor, now: datetime) -> list[str]:
    """Tells the actor's clients which words there are now; returns them."""
    log.append(session, actor.realm_id, AlertWordsEvent(), user_ids=[actor.id], now=now)
    return find_alert_words(session, actor)
