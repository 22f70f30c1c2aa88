"""Full-text search. No other module uses `message_search`.

SQLite has an FTS5 table (rowid = message id), PostgreSQL a tsvector with a GIN index. Both store
the words from words.py, which also parses queries, so they find the same messages. All words and
"quoted phrases" of a query must occur in a message.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR
from sqlalchemy.orm import Session

from models.chat.messages.errors import BadNarrow
from models.chat.messages.words import ParsedQuery, Part, index_words
from models.chat.rendering import plain_text
from models.chat.tables import Message, StaleSearch
from models.dialects import ByDialect, dialect_of, each_of_parameter, in_parameter
from specd.db import Change, Db, Query, upsert

MAX_WORDS = 50
"""Maximum number of words in one narrow."""
AT_ONCE = 20
"""Maximum number of messages that a request indexes itself when it moves or deletes them."""
MAX_AT_ONCE = 20_000
"""Maximum number of characters in these messages."""
LAST_PLACE = 16_383
"""The last position in a text that PostgreSQL can store."""
FEW = 2000
"""Maximum number of results for a lookup by id. More results are frequent enough for a scan."""

MERGED_EVERY = 8
"""Interval of messages after which a message, sent alone, merges segments (SQLite)."""
MERGED_PAGES = 16
"""Number of pages merged at each interval."""
CHARACTERS_A_PAGE = 500
"""Long texts merge an additional page per this number of characters."""

_ROW_ID, _FTS = column("rowid", Integer), column("message_search", Text)
_MESSAGE_ID, _VECTOR = column("message_id", Integer), column("vector", TSVECTOR)
_TABLE = table("message_search", _ROW_ID, _FTS, _MESSAGE_ID, _VECTOR)
"""The table with the columns of both databases. The first two columns are SQLite's."""
_ID: ColumnElement[int] = ByDialect(sqlite=_ROW_ID, postgresql=_MESSAGE_ID)

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
_INDEX_VECTORS = Change(
    text(
        "INSERT INTO message_search (message_id, vector) SELECT id, CAST(vector AS tsvector)"
        " FROM unnest(CAST(:ids AS bigint[]), CAST(:vectors AS text[])) AS new (id, vector)"
    )
)
# FTS5's automatic merge would merge 64 pages of each level at every 64th message, which takes 20 ms
# or more. The index is created with `automerge` off.
_MERGE_FTS = Change(
    text("INSERT INTO message_search (message_search, rank) VALUES ('merge', :pages)")
)
_FORGET = Change(delete(_TABLE).where(in_parameter(_ID, "ids")))
_MARK_STALE = Change(
    upsert(StaleSearch)
    .from_select(["message_id"], select(each_of_parameter("ids").c.value).where(true()))
    .on_conflict_do_nothing()
)


def index_messages(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Index new or changed messages, given as (id, topic, plain text)."""
    if not messages:
        return
    is_sqlite = dialect_of(session) == "sqlite"
    describe = _columns_of if is_sqlite else vector_of
    described: dict[tuple[str, str], dict[str, str]] = {}  # many notices have the same text
    rows = []
    for message_id, topic, content in messages:
        words = described.get((topic, content))
        if words is None:
            words = described[topic, content] = describe(topic, content)
        rows.append({"id": message_id, **words})
    (_INDEX_FTS if is_sqlite else _INDEX_VECTOR).run_all(session, rows)
    if is_sqlite and (pages := _pages_to_merge(messages)):
        _MERGE_FTS.run(session, {"pages": pages})


def index_new_messages(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Index messages that are not in the index. PostgreSQL needs only one statement."""
    if dialect_of(session) == "sqlite":
        index_messages(session, messages)
        return
    vectors = [vector_of(topic, content)["vector"] for _, topic, content in messages]
    ids = [message_id for message_id, _, _ in messages]
    _INDEX_VECTORS.run(session, {"ids": ids, "vectors": vectors})


def _pages_to_merge(messages: Sequence[tuple[int, str, str]]) -> int:
    """Return the number of pages of FTS5 segments to merge with these messages. Each transaction
    creates a segment, and a search reads all segments.
    """
    pages = sum(len(text) for _, _, text in messages) // CHARACTERS_A_PAGE
    return pages + MERGED_PAGES * sum(not number % MERGED_EVERY for number, _, _ in messages)


def index_soon(session: Session, messages: Sequence[tuple[int, str, str]]) -> None:
    """Index short texts immediately and long texts later."""
    if sum(len(text) for _, _, text in messages) > MAX_AT_ONCE:
        mark_stale(session, [message_id for message_id, _, _ in messages])
    else:
        index_messages(session, messages)


@lru_cache(maxsize=1000)
def _words_of_topic(topic: str) -> tuple[str, ...]:
    return tuple(index_words(topic))


def _columns_of(topic: str, text: str) -> dict[str, str]:
    return {"topic": " ".join(_words_of_topic(topic)), "text": " ".join(index_words(text))}


def vector_of(topic: str, text: str) -> dict[str, str]:
    """Return `vector`, the entry of PostgreSQL's index, as the text of a tsvector.

    No phrase continues from the topic into the text, like in FTS5, where phrases do not cross
    columns.
    """
    words = _words_of_topic(topic)
    places = [*enumerate(words, 1), *enumerate(index_words(text), len(words) + 2)]
    return {"vector": " ".join(f"'{word}':{min(place, LAST_PLACE)}" for place, word in places)}


def forget_messages(session: Session, message_ids: Sequence[int]) -> None:
    """Remove deleted messages from the index, immediately if there are few, otherwise later."""
    if len(message_ids) > AT_ONCE:
        mark_stale(session, message_ids)
    else:
        _FORGET.run(session, {"ids": message_ids})


def remove_messages(session: Session, message_ids: Sequence[int]) -> None:
    """Remove any number of messages from the index immediately."""
    _FORGET.run(session, {"ids": message_ids})


def mark_stale(session: Session, message_ids: Sequence[int]) -> None:
    """Schedule messages to be indexed later. A long message takes some milliseconds, so thousands
    would delay all writes.
    """
    _MARK_STALE.run(session, {"ids": message_ids})


def refresh_some(session: Session, limit: int) -> bool:
    """Index some of the scheduled messages. Return False if there are none."""
    marked = select(StaleSearch.message_id).order_by(StaleSearch.message_id).limit(limit)
    ids = list(session.execute(marked.with_for_update(skip_locked=True)).scalars())
    if not ids:
        return False
    # A change of a message locks its row, so the texts do not change meanwhile.
    rows = session.execute(
        select(Message.id, Message.topic, Message.rendered_content)
        .where(Message.id.in_(ids))
        .order_by(Message.id)
        .with_for_update()
    ).all()
    texts = [(row.id, row.topic, plain_text(row.rendered_content)) for row in rows]
    index_messages(session, texts)
    deleted = sorted(set(ids).difference(row.id for row in rows))
    if deleted:
        _FORGET.run(session, {"ids": deleted})
    session.execute(
        delete(StaleSearch)
        .where(StaleSearch.message_id.in_(ids))
        .execution_options(synchronize_session=False)
    )
    return True


def check_size(queries: Iterable[ParsedQuery]) -> None:
    """Raise `BadNarrow` if the queries contain too many words for one narrow."""
    if sum(len(part.words) for query in queries for part in query) > MAX_WORDS:
        raise BadNarrow(desc=f"more than {MAX_WORDS} words to search for")


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search as a condition: `NOTHING`; a `value` in the database's query language
    (`QUERY`); or a `value` with a list of ids (`IDS`).
    """

    kind: str
    value: str | list[int]


NOTHING, QUERY, IDS = "nothing", "query", "ids"


def find_all(db: Db, queries: Sequence[ParsedQuery]) -> SearchResults:
    """Return the messages that match all queries. A query without words matches nothing."""
    if not all(queries):
        return SearchResults(NOTHING, "")
    return _find(db, [[part for query in queries for part in query]])


def find_any(db: Db, queries: Iterable[ParsedQuery]) -> SearchResults:
    """Return the messages that match any of the queries."""
    alternatives = [query for query in queries if query]
    return _find(db, alternatives) if alternatives else SearchResults(NOTHING, "")


def matches(kind: str, message_id: SQLColumnExpression[int], name: str) -> ColumnElement[bool]:
    """Return the condition that a message is in the results. `message_id` is a column, and the
    parameter `name` contains the `value` of the results.
    """
    if kind == NOTHING:
        return false()
    if kind == IDS:
        return in_parameter(message_id, name)
    query = bindparam(name, type_=Text)
    by_words = select(_ROW_ID).where(_FTS.op("MATCH")(query))
    return ByDialect(
        sqlite=message_id.in_(by_words), postgresql=message_id.in_(_found_by_vector(query))
    )


def _found_by_vector(query: BindParameter[str]) -> Select[int]:
    matching = _VECTOR.op("@@")(cast(query, TSQUERY))
    return select(_MESSAGE_ID).where(matching)


_FIRST = Query(_found_by_vector(bindparam("query", type_=Text)).limit(FEW + 1), one_plan=False)


def _find(db: Db, alternatives: Sequence[ParsedQuery]) -> SearchResults:
    """Return the messages that match one of the alternatives. All parts of an alternative must
    occur.

    On PostgreSQL, a query with few results is executed immediately and its ids become the
    condition. The planner cannot distinguish rare from common words, and would scan all messages,
    newest first, for twenty results that do not exist.
    """
    if dialect_of(db) == "sqlite":
        return SearchResults(QUERY, _written(alternatives, _fts_phrase, " AND ", " OR "))
    # One query with all parts, so that the index starts with the rarest word.
    whole = _written(alternatives, _tsquery_phrase, " & ", " | ")
    ids = [message_id for (message_id,) in _FIRST.all(db, {"query": whole})]
    return SearchResults(IDS, ids) if len(ids) <= FEW else SearchResults(QUERY, whole)


def _written(
    alternatives: Sequence[ParsedQuery], phrase: Callable[[Part], str], all_of: str, one_of: str
) -> str:
    """Return the query in a database's query language. Words contain only letters and digits, so
    users cannot enter operators.
    """
    return one_of.join(f"({all_of.join(map(phrase, parts))})" for parts in alternatives)


def _fts_phrase(part: Part) -> str:
    return f'"{" ".join(part.words)}"' + (" *" if part.is_open else "")


def _tsquery_phrase(part: Part) -> str:
    return "(" + " <-> ".join(f"'{word}'" for word in part.words) + (":*)" if part.is_open else ")")
