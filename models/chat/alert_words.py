"""Alert words: list, add and remove them, and find them in texts.

A word matches between spaces or the punctuation that surrounds words. The database finds the
candidates for a text by their first run of letters and digits.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, exists, insert, select
from sqlalchemy.orm import Session

from models.chat.common.name_keys import key_of
from models.chat.common.one_line import require_one_line
from models.chat.events import log
from models.chat.events.account import AlertWordsEvent
from models.chat.identity.actors import Actor
from models.chat.tables import AlertWord, Subscription, UserMessage
from models.dialects import in_parameter
from specd.db import Db, Query, table_of

_TOKEN = re.compile(r"\w+")
_BEFORE, _AFTER = frozenset("([\"'.,;*`>"), frozenset(")]\"'?:.,;!*`")
"""The punctuation that may precede and follow a word."""


_CANDIDATES = select(AlertWord.user_id, AlertWord.word_key).where(
    AlertWord.realm_id == bindparam("of_realm_id"), in_parameter(AlertWord.first_part, "tokens")
)
_IN_CHANNEL = Query(
    _CANDIDATES.where(
        exists().where(
            Subscription.channel_id == bindparam("in_channel_id"),
            Subscription.user_id == AlertWord.user_id,
            Subscription.is_active,
        )
    )
)
_AMONG = Query(_CANDIDATES.where(in_parameter(AlertWord.user_id, "among")))
_WITH_COPY = Query(
    _CANDIDATES.where(
        AlertWord.user_id.in_(
            select(UserMessage.user_id).where(UserMessage.message_id == bindparam("copy_of"))
        )
    )
)


def first_part(key: str) -> str:
    """Return the first run of letters and digits in a word, or an empty text if there is none."""
    match = _TOKEN.search(key)
    return "" if match is None else match[0]


def find_alerted_in(session: Session, realm_id: int, channel_id: int, content: str) -> set[int]:
    """Return the ids of a channel's subscribers with an alert word in the Markdown."""
    return _find(session, _IN_CHANNEL, content, of_realm_id=realm_id, in_channel_id=channel_id)


def find_alerted_among(
    session: Session, realm_id: int, user_ids: Collection[int], content: str
) -> set[int]:
    """Return the ids of the users with an alert word in the Markdown."""
    return _find(session, _AMONG, content, of_realm_id=realm_id, among=list(user_ids))


def find_alerted_with_copy(
    session: Session, realm_id: int, message_id: int, content: str
) -> set[int]:
    """Return the ids of users with a copy of a message and an alert word in its new Markdown."""
    return _find(session, _WITH_COPY, content, of_realm_id=realm_id, copy_of=message_id)


def _find(
    session: Session, candidates: Query[int, str], content: str, **values: object
) -> set[int]:
    text = key_of(content)
    tokens = ["", *{*_TOKEN.findall(text)}]
    users: dict[str, set[int]] = defaultdict(set)
    for user_id, key in candidates.all(session, {"tokens": tokens, **values}):
        users[key].add(user_id)
    return {user for key in standing_alone(users, text) for user in users[key]}


def standing_alone(keys: Collection[str], text: str) -> set[str]:
    """Return the keys that occur in the text as separate words. The cost grows with the text and
    with the number of different key lengths, not with the number of keys.
    """
    matched: set[str] = set()
    lengths: dict[str, set[int]] = defaultdict(set)
    for key in keys:
        lengths[key[0]].add(len(key))
    for at, sign in enumerate(text):
        if sign not in lengths or not _is_edge(text[at - 1 : at] if at else "", _BEFORE):
            continue
        for length in lengths[sign]:
            end = at + length
            if _is_edge(text[end : end + 1], _AFTER) and text[at:end] in keys:
                matched.add(text[at:end])
    return matched


def _is_edge(sign: str, signs: Collection[str]) -> bool:
    """Return whether the character ends a word. An empty text is the end of the text."""
    return not sign or sign.isspace() or sign in signs


_TABLE = table_of(AlertWord)
_MINE = (
    select(_TABLE.c.word).where(_TABLE.c.user_id == bindparam("of_user_id")).order_by(_TABLE.c.id)
)


def find_alert_words(db: Db, actor: Actor) -> list[str]:
    """Return the actor's alert words as entered, in the order in which they were added."""
    return list(db.execute(_MINE, {"of_user_id": actor.id}).scalars())


def add_alert_words(
    session: Session, actor: Actor, words: Iterable[str], *, now: datetime
) -> list[str]:
    """Add words that the actor does not have in any case. Return all words.

    Raise `NotOneLine`.
    """
    words = [require_one_line("alert_words", word.strip()) for word in words]
    before = find_alert_words(session, actor)
    known = {key_of(word.strip()) for word in before}
    new = {key_of(word.strip()): word for word in reversed(words)}
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
        return before
    session.connection().execute(insert(_TABLE), rows)
    return _append_event(session, actor, now)


def remove_alert_words(
    session: Session, actor: Actor, words: Sequence[str], *, now: datetime
) -> list[str]:
    """Remove words in any case. Unknown words are ignored. Return the remaining words."""
    keys = sorted({key_of(word.strip()) for word in words})
    mine = delete(_TABLE).where(_TABLE.c.user_id == actor.id, _TABLE.c.word_key.in_(keys))
    if session.connection().execute(mine.returning(_TABLE.c.id)).first() is None:
        return find_alert_words(session, actor)
    return _append_event(session, actor, now)


def _append_event(session: Session, actor: Actor, now: datetime) -> list[str]:
    """Append the event for the actor's clients. Return all words."""
    log.append(session, actor.realm_id, AlertWordsEvent(), user_ids=[actor.id], now=now)
    return find_alert_words(session, actor)
