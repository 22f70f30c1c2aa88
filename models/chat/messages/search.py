"""Full-text search: the only module that speaks to `message_search`.

SQLite has an FTS5 table (rowid = message id), PostgreSQL a tsvector with a GIN index. Both get the
words that words.py makes of texts and of queries, and so find the same. A query is words that must
all occur, and "quoted phrases".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    bindparam,
    cast,
    column,
    delete,
    false,
    select,
    table,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from models.chat.messages.errors import BadNarrow
from models.chat.messages.words import Part, Sought, index_words
from models.chat.rendering import plain_text
from models.chat.tables import Message, StaleSearch
from models.dialects import ByDialect, bound_each, bound_in, upsert
from models.prepared import Change, Query
from models.reader import Db, dialect_of

MOST_WORDS = 50
"""In one narrow."""
AT_ONCE = 20
"""So many messages are indexed again in the request that moves or deletes them."""
MOST_AT_ONCE = 20_000
"""So many characters of them."""
LAST_PLACE = 16_383
"""PostgreSQL knows no place in a text beyond this one."""
FEW = 2000
"""So many finds are looked up one by one; more are common enough to come across them."""

MERGED_EVERY = 8
"""Of so many messages that are sent one by one, one pays for merging (SQLite)."""
MERGED_PAGES = 16
"""So many pages, the share of as many messages as pay nothing."""
CHARACTERS_A_PAGE = 500
"""Long texts pay a page more for so many characters."""

_FTS = table("message_search", column("rowid", Integer), column("message_search"))
_VECTORS = table("message_search", column("message_id", Integer), column("vector"))

_ID: ColumnElement[int] = ByDialect(sqlite=_FTS.c.rowid, postgresql=_VECTORS.c.message_id)

_INDEX_FTS = Change(
    text(
        "INSERT OR REPLACE INTO message_search (rowid, topic, content) VALUES (:id, :topic, :text)"
    )
)
_INDEX_VECTOR = Change(
    text(
        "INSERT INTO message_search (message_id, vector) VALUES (:id, CAST(:vector AS tsvector))"
        " ON CONFLICT (message_id) DO UPDATE SET vector = excluded.vector"
    )
)
# FTS5 would merge by itself, 64 pages of each level at every 64th message: 20 ms and more at once.
# The index is made so that it leaves that to us.
_MERGE_FTS = Change(
    text("INSERT INTO message_search (message_search, rank) VALUES ('merge', :pages)")
)
_FORGET = Change(delete(_FTS).where(bound_in(_ID, "ids")))
_MARK_STALE = Change(
    upsert(StaleSearch)
    .from_select(["message_id"], select(bound_each("ids").c.value).where(true()))
    .on_conflict_do_nothing()
)


def index_message(session: Session, message_id: int, *, topic: str, text: str) -> None:
    """Make a message findable. `text`: its plain text."""
    index_messages(session, [(message_id, topic, text)])


def index_messages(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Make messages findable, as (id, topic, plain text); those that are known already, anew."""
    if not messages:
        return
    is_sqlite = dialect_of(session) == "sqlite"
    describe = _columns_of if is_sqlite else vector_of
    described: dict[tuple[str, str], dict[str, str]] = {}  # notices say the same to many
    rows = []
    for message_id, topic, content in messages:
        words = described.get((topic, content))
        if words is None:
            words = described[topic, content] = describe(topic, content)
        rows.append({"id": message_id, **words})
    (_INDEX_FTS if is_sqlite else _INDEX_VECTOR).run_all(session, rows)
    if is_sqlite and (pages := _pages_to_merge(messages)):
        _MERGE_FTS.run(session, {"pages": pages})


def _pages_to_merge(messages: Sequence[tuple[int, str, str]]) -> int:
    """How much of the merging of FTS5's segments falls to those who index these messages. Each
    transaction makes a segment, and a search looks into all of them.
    """
    pages = sum(len(text) for _, _, text in messages) // CHARACTERS_A_PAGE
    return pages + MERGED_PAGES * sum(not number % MERGED_EVERY for number, _, _ in messages)


def index_soon(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Short texts at once; long ones later."""
    if sum(len(text) for _, _, text in messages) > MOST_AT_ONCE:
        mark_stale(session, [message_id for message_id, _, _ in messages])
    else:
        index_messages(session, messages)


def _columns_of(topic: str, text: str) -> dict[str, str]:
    return {"topic": " ".join(index_words(topic)), "text": " ".join(index_words(text))}


def vector_of(topic: str, text: str) -> dict[str, str]:
    """What PostgreSQL's index keeps of a message, as the text of a tsvector, named `vector`.

    No phrase goes from the topic on into the text, as none goes from column to column.
    """
    words = index_words(topic)
    places = [*enumerate(words, 1), *enumerate(index_words(text), len(words) + 2)]
    return {"vector": " ".join(f"'{word}':{min(place, LAST_PLACE)}" for place, word in places)}


def forget_messages(session: Session, message_ids: Sequence[int]) -> None:
    """Messages that are no longer there; many of them are forgotten later."""
    if len(message_ids) > AT_ONCE:
        mark_stale(session, message_ids)
    else:
        _forget(session, message_ids)


def _forget(session: Session, message_ids: Sequence[int]) -> None:
    _FORGET.run(session, {"ids": message_ids})


def mark_stale(session: Session, message_ids: Sequence[int]) -> None:
    """Have these messages looked at later. To index a long one takes some milliseconds: thousands
    would hold up everybody who writes.
    """
    _MARK_STALE.run(session, {"ids": message_ids})


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
    index_messages(session, [(row[0], row[1], plain_text(row[2])) for row in texts])
    gone = sorted(set(ids).difference(row[0] for row in texts))
    if gone:
        _forget(session, gone)
    session.execute(
        delete(StaleSearch)
        .where(StaleSearch.message_id.in_(ids))
        .execution_options(synchronize_session=False)
    )
    return True


def check_size(queries: Iterable[Sought]) -> None:
    """Raises `BadNarrow` for more words than one narrow may look for."""
    if sum(len(part.words) for query in queries for part in query) > MOST_WORDS:
        raise BadNarrow(desc=f"more than {MOST_WORDS} words to search for")


@dataclass(frozen=True, slots=True)
class Finds:
    """What a search finds, as a condition knows it: `NOTHING`, by the `value` as a query in the
    database's own language (`QUERY`), or the `value` as a list of ids (`IDS`).
    """

    kind: str
    value: str | list[int]


NOTHING, QUERY, IDS = "nothing", "query", "ids"


def find_all(db: Db, queries: Sequence[Sought]) -> Finds:
    """The messages that match every query. One without a word matches nothing."""
    if not all(queries):
        return Finds(NOTHING, "")
    return _find(db, [[part for query in queries for part in query]])


def find_any(db: Db, queries: Iterable[Sought]) -> Finds:
    """The messages that match one of them."""
    alternatives = [query for query in queries if query]
    return _find(db, alternatives) if alternatives else Finds(NOTHING, "")


def matches(kind: str, message_id: SQLColumnExpression[int], name: str) -> ColumnElement[bool]:
    """The condition that the message with that id (a column) is among the finds of that kind;
    their value is the parameter `name`.
    """
    if kind == NOTHING:
        return false()
    if kind == IDS:
        return bound_in(message_id, name)
    query = bindparam(name, type_=Text)
    by_words = select(_FTS.c.rowid).where(_FTS.c.message_search.op("MATCH")(query))
    return ByDialect(
        sqlite=message_id.in_(by_words), postgresql=message_id.in_(_found_by_vector(query))
    )


def _found_by_vector(query: BindParameter[str]) -> Select[int]:
    matching = _VECTORS.c.vector.op("@@")(cast(query, TSQUERY))
    return select(_VECTORS.c.message_id).where(matching)


_FIRST = Query(_found_by_vector(bindparam("query", type_=Text)).limit(FEW + 1), one_plan=False)


def _find(db: Db, alternatives: Sequence[Sought]) -> Finds:
    """One of the alternatives, each of parts that must all occur.

    On PostgreSQL a query that finds few messages is run at once, and its finds are the condition:
    the planner cannot tell rare words from common ones, and walks through all messages, newest
    first, for twenty that are not there.
    """
    if dialect_of(db) == "sqlite":
        return Finds(QUERY, _written(alternatives, _fts_phrase, " AND ", " OR "))
    # One query of all parts: the index then begins with the rarest word, not with each.
    whole = _written(alternatives, _tsquery_phrase, " & ", " | ")
    found = [message_id for (message_id,) in _FIRST.all(db, {"query": whole})]
    return Finds(IDS, found) if len(found) <= FEW else Finds(QUERY, whole)


def _written(
    alternatives: Sequence[Sought], phrase: Callable[[Part], str], all_of: str, one_of: str
) -> str:
    """The query in a database's own language. Words are of letters and digits alone, so that its
    operators mean nothing in what people type.
    """
    return one_of.join(f"({all_of.join(map(phrase, parts))})" for parts in alternatives)


def _fts_phrase(part: Part) -> str:
    return f'"{" ".join(part.words)}"' + (" *" if part.is_open else "")


def _tsquery_phrase(part: Part) -> str:
    return "(" + " <-> ".join(f"'{word}'" for word in part.words) + (":*)" if part.is_open else ")")
