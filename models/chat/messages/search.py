"""Full-text search: the only module that speaks to `message_search`.

SQLite has an FTS5 table (rowid = message id), PostgreSQL a tsvector with a GIN index; both stem
English words. A query is words that must all occur, and "quoted phrases".
"""

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

from sqlalchemy import (
    ColumnElement,
    SQLColumnExpression,
    bindparam,
    column,
    delete,
    false,
    func,
    literal,
    select,
    table,
    text,
)
from sqlalchemy.orm import Session

from models.chat.messages.errors import BadNarrow
from models.chat.rendering import plain_text
from models.chat.tables import Message, StaleSearch
from models.reader import Db, bound_ids, dialect_of, id_in

_PART = re.compile(r'"([^"]*)"|([^\s"]+)')
_WORD = re.compile(r"\w+")
MOST_WORDS = 50
"""In one narrow."""
AT_ONCE = 20
"""So many messages are indexed again in the request that moves or deletes them."""
FEW = 2000
"""So many finds are looked up one by one; more are common enough to come across them."""

_FTS = table("message_search", column("rowid"), column("message_search"))
_VECTORS = table("message_search", column("message_id"), column("vector"))

_INSERT_FTS = text("INSERT INTO message_search (rowid, topic, content) VALUES (:id, :topic, :text)")
_INSERT_VECTOR = text(
    "INSERT INTO message_search (message_id, vector)"
    " VALUES (:id, to_tsvector('english', :topic || ' ' || :text))"
)
_UPDATE_FTS = text("UPDATE message_search SET topic = :topic, content = :text WHERE rowid = :id")
_UPDATE_VECTOR = text(
    "UPDATE message_search SET vector = to_tsvector('english', :topic || ' ' || :text)"
    " WHERE message_id = :id"
)
_DELETE_FTS = text("DELETE FROM message_search WHERE rowid IN :ids").bindparams(
    bindparam("ids", expanding=True)
)
_DELETE_VECTOR = text("DELETE FROM message_search WHERE message_id IN :ids").bindparams(
    bindparam("ids", expanding=True)
)

_MARK_SQLITE = text(
    "INSERT OR IGNORE INTO stale_search (message_id) SELECT value FROM json_each(:ids)"
)
_MARK_POSTGRESQL = text(
    "INSERT INTO stale_search (message_id) SELECT unnest(CAST(:ids AS bigint[]))"
    " ON CONFLICT DO NOTHING"
)


def index_message(session: Session, message_id: int, *, topic: str, words: str) -> None:
    """Make a new message findable. `words`: its plain text."""
    statement = _INSERT_FTS if dialect_of(session) == "sqlite" else _INSERT_VECTOR
    session.connection().execute(statement, {"id": message_id, "topic": topic, "text": words})


def index_messages(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Make new messages findable, as (id, topic, plain text)."""
    if messages:
        statement = _INSERT_FTS if dialect_of(session) == "sqlite" else _INSERT_VECTOR
        session.connection().execute(
            statement, [{"id": i, "topic": topic, "text": words} for i, topic, words in messages]
        )


def reindex_messages(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Messages whose topic or text changed, as (id, topic, plain text)."""
    if messages:
        statement = _UPDATE_FTS if dialect_of(session) == "sqlite" else _UPDATE_VECTOR
        session.connection().execute(
            statement, [{"id": i, "topic": topic, "text": words} for i, topic, words in messages]
        )


def forget_messages(session: Session, message_ids: Sequence[int]) -> None:
    """Messages that are no longer there; many of them are forgotten later."""
    if len(message_ids) > AT_ONCE:
        mark_stale(session, message_ids)
    else:
        _forget(session, message_ids)


def _forget(session: Session, message_ids: Sequence[int]) -> None:
    statement = _DELETE_FTS if dialect_of(session) == "sqlite" else _DELETE_VECTOR
    session.connection().execute(statement, {"ids": list(message_ids)})


def mark_stale(session: Session, message_ids: Sequence[int]) -> None:
    """Have these messages looked at later. To index a long one takes a millisecond: thousands
    would hold up everybody who writes.
    """
    statement = _MARK_SQLITE if dialect_of(session) == "sqlite" else _MARK_POSTGRESQL
    ids = bound_ids(dialect_of(session), message_ids)
    session.connection().execute(statement, {"ids": ids})


def refresh_some(session: Session, limit: int) -> bool:
    """Make the index true again for some of the messages that were marked; False when there are
    none.
    """
    marked = select(StaleSearch.message_id).order_by(StaleSearch.message_id).limit(limit)
    ids = list(session.execute(marked.with_for_update(skip_locked=True)).scalars())
    if not ids:
        return False
    # Whoever changes a message holds its row: what is read here is what it stays.
    texts = session.execute(
        select(Message.id, Message.topic, Message.rendered_content)
        .where(Message.id.in_(ids))
        .order_by(Message.id)
        .with_for_update()
    ).all()
    reindex_messages(session, [(row[0], row[1], plain_text(row[2])) for row in texts])
    gone = sorted(set(ids).difference(row[0] for row in texts))
    if gone:
        _forget(session, gone)
    session.execute(
        delete(StaleSearch)
        .where(StaleSearch.message_id.in_(ids))
        .execution_options(synchronize_session=False)
    )
    return True


def parse_query(query: str) -> list[list[str]]:
    """The query's parts, each a phrase of one or more words, in small letters."""
    parts = (_WORD.findall(phrase or word) for phrase, word in _PART.findall(query.casefold()))
    return [part for part in parts if part]


def check_size(queries: Sequence[str]) -> None:
    """Raises `BadNarrow` for more words than one narrow may look for."""
    if sum(len(part) for query in queries for part in parse_query(query)) > MOST_WORDS:
        raise BadNarrow(desc=f"more than {MOST_WORDS} words to search for")


def matches_all(
    db: Db, queries: Sequence[str], message_id: SQLColumnExpression[int]
) -> ColumnElement[bool]:
    """The condition that the message with that id (a column) matches every query. One without a
    word matches nothing.
    """
    parsed = [parse_query(query) for query in queries]
    if not all(parsed):
        return false()
    return _matches(db, [[part for parts in parsed for part in parts]], message_id)


def matches_any(
    db: Db, queries: Sequence[str], message_id: SQLColumnExpression[int]
) -> ColumnElement[bool]:
    """The condition that it matches one of them."""
    parsed = [parts for parts in map(parse_query, queries) if parts]
    return _matches(db, parsed, message_id) if parsed else false()


def _matches(
    db: Db,
    alternatives: Sequence[Sequence[Sequence[str]]],
    message_id: SQLColumnExpression[int],
) -> ColumnElement[bool]:
    """One of the alternatives, each of parts that must all occur.

    On PostgreSQL a query that finds few messages is run at once, and its finds are the condition:
    the planner cannot tell rare words from common ones, and walks through all messages, newest
    first, for twenty that are not there.
    """
    if dialect_of(db) == "sqlite":
        # Quoted strings only: FTS5's own operators mean nothing in what people type.
        wanted = " OR ".join(
            "(" + " AND ".join('"' + " ".join(words) + '"' for words in parts) + ")"
            for parts in alternatives
        )
        return message_id.in_(
            select(_FTS.c.rowid).where(_FTS.c.message_search.op("MATCH")(literal(wanted)))
        )
    # One query of all parts: the index then begins with the rarest word, not with each.
    whole = reduce(
        lambda one, other: one.op("||")(other), [_tsquery(parts) for parts in alternatives]
    )
    matching = select(_VECTORS.c.message_id).where(_VECTORS.c.vector.op("@@")(whole))
    found = db.execute(matching.limit(FEW + 1)).scalars().all()
    if len(found) <= FEW:
        return id_in(db, message_id, found)
    return message_id.in_(matching)


def _tsquery(parts: Sequence[Sequence[str]]) -> ColumnElement[Any]:
    queries: list[ColumnElement[Any]] = [
        func.phraseto_tsquery(text("'english'"), " ".join(words)) for words in parts
    ]
    return reduce(lambda one, other: one.op("&&")(other), queries).self_group()
