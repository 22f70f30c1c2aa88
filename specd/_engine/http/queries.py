"""URL-encoded queries and forms, and the strict check of queries (`Service.strict_queries`): only
documented parameters are allowed, and those with a single value only once. Otherwise a misspelled
filter, or one whose last value wins, would list the wrong items without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from itertools import chain, islice

from specd._engine.errors import Violation, invalid
from specd._engine.http.guard import decode_text, pointer_step, unquote

MAX_QUERY_FIELDS = 1000
MAX_NAMED = 20
"""The maximum number of names that an error lists."""
LONGEST_COMPARED = 64
"""The maximum length of a name, in characters, that is compared with those of the document."""

Pairs = Mapping[str, Sequence[str]]


def parse_pairs(raw: bytes, where: str) -> dict[str, list[str]]:
    """Return the values in `application/x-www-form-urlencoded` bytes by name (WHATWG URL, 5).

    Raise `InvalidRequest` for text that is not UTF-8 or contains NUL, or for more than 1,000
    fields.
    """
    pairs: dict[str, list[str]] = {}
    if not raw:
        return pairs
    if raw.count(b"&") >= MAX_QUERY_FIELDS:
        raise invalid(f"/{where}", f"has more than {MAX_QUERY_FIELDS} fields")
    text = decode_text(raw.replace(b"+", b" "), f"/{where}")
    for field in filter(None, text.split("&")):
        name, _, value = field.partition("=")
        if "%" in name:
            name = decode_text(unquote(name.encode()), f"/{where}")
        if "%" in value:
            value = decode_text(unquote(value.encode()), f"/{where}/{pointer_step(name)}")
        if name in pairs:
            pairs[name].append(value)
        else:
            pairs[name] = [value]
    return pairs


def parse_raw_pairs(raw: bytes, where: str) -> dict[str, list[bytes]]:
    """Return the same as `parse_pairs`, but with the percent-encoded values.

    Raise `InvalidRequest` for a name that is not UTF-8 or contains NUL.
    """
    pairs: dict[str, list[bytes]] = {}
    for field in filter(None, raw.split(b"&")):
        name, _, value = field.partition(b"=")
        text = decode_text(unquote(name.replace(b"+", b" ")), f"/{where}")
        pairs.setdefault(text, []).append(value)
    return pairs


def find_violations(
    query: Pairs, unknown: AbstractSet[str], *, known: AbstractSet[str], single: AbstractSet[str]
) -> list[Violation]:
    """Return violations for the first names of a query that are unknown or must not be repeated."""
    found = chain(_of_unknown(unknown, known), _of_repeated(query, single))
    return list(islice(found, MAX_NAMED))


def _of_unknown(unknown: AbstractSet[str], known: AbstractSet[str]) -> Iterator[Violation]:
    for name in sorted(unknown):
        message = "is not a parameter of this operation"
        nearest = _nearest(name, known)
        if nearest:
            message += f"; did you mean {nearest}?"
        yield Violation(f"/query/{pointer_step(name)}", message, "unknown")


def _of_repeated(query: Pairs, single: AbstractSet[str]) -> Iterator[Violation]:
    for name, values in query.items():
        if len(values) > 1 and name in single:
            yield Violation(f"/query/{pointer_step(name)}", "must be sent once", "repeated")


def _nearest(name: str, known: AbstractSet[str]) -> str | None:
    if len(name) > LONGEST_COMPARED:
        return None
    by_folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.replace("-", "_").removesuffix("[]").casefold(), by_folded, n=1)
    return by_folded[found[0]] if found else None
