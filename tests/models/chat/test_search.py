"""Full-text search: words in all languages; both databases follow the rule in words.py."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import ColumnClause, column, select, table

from models.chat.messages import search
from models.chat.messages.words import MAX_INDEXED, Part, index_words, parse_query, stem_of
from models.chat.reading.marks import mark_matches
from models.dialects import dialect_of
from specd.db import Database, Db, Query

ROOT = Path(__file__).parents[3]
WORDS = (
    *("walk", "walks", "Walking", "city", "cities", "relational", "the", "be", "a", "x" * 120),
    *(
        "café",
        "Cafe",
        "CAFE\u0301",
        "Straße",
        "STRASSE",
        "naïve",
        "İzmir",
        "3",
        "14",
        "v2",
        "don't",
    ),
    *("ёжик", "ежик", "Ελλάδα", "ελλαδα", "हिन्दी", "हिन्दू", "القُرآن", "القران", "שָׁלוֹם", "שלום"),
    *("東京都", "東京", "京都", "京", "東京tower", "tower東京", "カタカナ", "ｶﾀｶﾅ", "ひらがな"),
    *("학교에서", "학교", "ภาษาไทย", "ไทย", "ภาษา", "ພາສາ", "ភាសា", "မြန်မာ", "foo-bar", "foo_bar"),
    *(
        "bar",
        "https://example.com/a?b=c",
        "hamlet@acme.example",
        "AND",
        "OR",
        "NEAR",
        "*",
        '"',
        "'",
    ),
    *("a:*", "\\", "🎉", "ก" + "\u0e48" * 20, "!?"),
)


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("apolog", ("apology", "apologies", "apologize")),
        ("citi", ("city", "cities")),
        ("relat", ("relate", "relates", "related", "relational")),
        ("run", ("run", "runs", "running")),
        ("ski", ("ski", "skis")),
        ("is", ("is",)),
        ("cafés", ("cafés",)),
        ("a" * 64 + "s", ("a" * 64 + "s",)),
    ],
)
def test_words_with_one_stem_are_equal(stem: str, words: tuple[str, ...]) -> None:
    assert {stem_of(word) for word in words} == {stem}


def test_stemming_is_thread_safe() -> None:
    words = [f"{beginning}ingly" for beginning in map("".join, permutations("abcdefg", 5))]
    stem_of.cache_clear()
    alone = [stem_of(word) for word in words]
    stem_of.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(stem_of, words)) == alone


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Walking, the cities", ["walk", "the", "citi"]),
        ("Cafe\u0301 CAFÉ Straße", ["cafe", "cafe", "strass"]),
        ("ЁЖИК Ελλάδα", ["ежик", "ελλαδα"]),
        ("हिन्दी", ["हिन्दी"]),
        ("القُرآن שָׁלוֹם", ["القران", "שלום"]),
        ("東京都 x", ["東京", "京都", "都", "x"]),
        ("東京tower", ["東京", "京", "tower"]),
        ("ｶﾞ", ["ガ"]),
        ("학교에", ["학교", "교에", "에"]),
        ("foo_bar v2 3.14", ["foo", "bar", "v2", "3", "14"]),
        ("🎉 !?", []),
    ],
)
def test_text_is_split_into_words(text: str, words: list[str]) -> None:
    assert index_words(text) == words


ASCII = "".join(map(chr, range(128)))


@pytest.mark.parametrize(
    "text",
    [
        ASCII,
        "to be " * 8000,
        "a" * 300 + " Walking",
        "O'Brien's e-mail: a_b@c.d",
        "x1\x00y\x1fz",
        " ",
    ],
)
def test_ascii_text_has_the_same_words_as_other_texts(text: str) -> None:
    assert [*index_words(text), "ж"][:MAX_INDEXED] == index_words(f"{text} ж")


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ('walked "To be" foo-bar', [Part(("walk",)), Part(("to", "be")), Part(("foo", "bar"))]),
        ("東京都", [Part(("東京", "京都"))]),
        ("京", [Part(("京",), is_open=True)]),
        ("東京tower", [Part(("東京", "京", "tower"))]),
        ("tower京", [Part(("tower", "京"), is_open=True)]),
        ('"" !? 🎉', []),
    ],
)
def test_query_is_split_into_parts(query: str, parts: list[Part]) -> None:
    assert parse_query(query) == parts


@cache
def words_of(text: str) -> tuple[str, ...]:
    return tuple(index_words(text))


def holds(words: Sequence[str], part: Part) -> bool:
    """Return whether the words follow each other in the text; the last may be a prefix if the part
    is open.
    """
    wanted, count = part.words, len(part.words)
    for start in range(len(words) - count + 1):
        *firsts, last = words[start : start + count]
        ends = last.startswith(wanted[-1]) if part.is_open else last == wanted[-1]
        if ends and tuple(firsts) == wanted[:-1]:
            return True
    return False


def expected(messages: dict[int, tuple[str, str]], queries: Sequence[str]) -> set[int]:
    parts = [parse_query(query) for query in queries]
    if not all(parts):
        return set()
    return {
        message_id
        for message_id, texts in messages.items()
        if all(
            any(holds(words_of(text), part) for text in texts) for each in parts for part in each
        )
    }


def test_database_finds_the_expected_messages(chat_database: Database) -> None:
    chance = Random(7)

    def text(most: int) -> str:
        return chance.choice((" ", "", "\n")).join(chance.choices(WORDS, k=chance.randint(1, most)))

    messages = {n: (text(2), text(6)) for n in range(1, 301)}
    chat_database.run(
        lambda s: search.index_messages(s, [(n, *texts) for n, texts in messages.items()])
    )
    queries = [[word] for word in WORDS]
    queries += [[text(1), text(1)] for _ in range(60)]
    queries += [[f'"{text(2)}"'.replace('""', '"')] for _ in range(60)]
    queries += [[texts[1][:30]] for texts in list(messages.values())[:60]]
    found_any = 0
    with chat_database.reading() as reader:
        for query in queries:
            sought = [*map(parse_query, query)]
            found = looked_up(reader, search.find_all(reader, sought))
            assert set(found) == expected(messages, query), query
            either = looked_up(reader, search.find_any(reader, sought))
            one_by_one = [expected(messages, [part]) for part in query if parse_query(part)]
            assert set(either) == set().union(*one_by_one), query
            found_any += bool(expected(messages, query))
    assert found_any > 100


def looked_up(reader: Db, finds: search.SearchResults) -> list[int]:
    key: ColumnClause[int] = column("rowid" if dialect_of(reader) == "sqlite" else "message_id")
    condition = search.matches(finds.kind, key, "found")
    query = Query(select(key).select_from(table("message_search")).where(condition))
    return [message_id for (message_id,) in query.all(reader, {"found": finds.value})]


def test_changed_text_is_reindexed(chat_database: Database) -> None:
    for text in ("first", "second"):
        chat_database.run(lambda s, text=text: search.index_messages(s, [(1, "", text)]))  # type: ignore[misc]
    with chat_database.reading() as reader:
        for word, ids in (("first", []), ("second", [1])):
            assert looked_up(reader, search.find_all(reader, [parse_query(word)])) == ids


def test_longest_words_and_texts_are_indexed(chat_database: Database) -> None:
    texts = ("x" * 10_000, "\u0e01" + "\u0e48" * 9_999, "東" * 10_000, "a " * 5_000, "🎉é" * 5_000)
    numbered = [(n, text[:60], text) for n, text in enumerate(texts, 1)]
    chat_database.run(lambda s: search.index_messages(s, numbered))


@pytest.mark.parametrize(
    ("query", "content", "marked"),
    [
        ("walk", "<p>Walked walker</p>", "<p>[Walked] walker</p>"),
        ("cafe", "<p>the Café</p>", "<p>the [Café]</p>"),
        ("東京", "<p>新東京都 tower</p>", "<p>新[東京]都 tower</p>"),
        ("京", "<p>東京都</p>", "<p>東[京]都</p>"),
        ("ไทย", "<p>ภาษาไทย</p>", "<p>ภาษา[ไทย]</p>"),
        ("amp p lt", "<p>a &amp; b &lt;</p>", "<p>a &amp; b &lt;</p>"),
        ('"to be"', "<p>To be</p>", "<p>[To] [be]</p>"),
    ],
)
def test_matches_are_highlighted(query: str, content: str, marked: str) -> None:
    message = {"content": content, "subject": "", "content_type": "text/html"}
    mark_matches([message], [parse_query(query)])
    shown = message["match_content"].replace('<span class="highlight">', "[")
    assert shown.replace("</span>", "]") == marked
