"""Hostile values for a place in a request, up to the permitted maximum."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from tests.contract.cost.places import Document, Place

MAX_BYTES = 900_000
"""Maximum size of a value as JSON, so that its request does not exceed the limit of bodies."""

LONGEST_STORED = 10_000
"""Longer values are truncated or rejected before they are processed. This length is tested too."""

Filling = Callable[[float], Any]
"""A function from the share of the maximum (a quarter, a half, the whole) to a value."""


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def counted(form: str, *, start: str = "") -> Callable[[int], str]:
    """Return a function that repeats `form` with a running number in place of `%d`, truncated if it
    does not fit once.
    """

    def fill(size: int) -> str:
        parts, length = [start], len(start)
        for number in itertools.count(1):
            part = form.replace("%d", str(number))
            length += len(part)
            if length > size:
                return ("".join(parts) or part)[:size]
            parts.append(part)
        raise AssertionError

    return fill


def nested(opening: str, closing: str) -> Callable[[int], str]:
    def fill(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return fill


def table(size: int) -> str:
    """Return a header and a row of the widest permitted table."""
    columns = min(size // 5, 200)
    return ("|a" * columns + "\n" + "|-" * columns + "\n" + "|" * size)[:size]


TEXTS: Mapping[str, Callable[[int], str]] = {
    "letters": repeated("a"),
    "words": repeated("a b "),
    "distinct words": counted("w%d "),
    "commas": repeated(","),
    "parentheses": lambda size: ("http://a/" + ")" * size)[:size],
    "opening parentheses": lambda size: ("http://a/" + "(" * size)[:size],
    "links": counted("http://a.example/%d "),
    "bare domains": repeated("a.b.c."),
    "backticks": repeated("`"),
    "backtick runs": lambda size: "".join("`" * n + " " for n in range(1, 1500))[:size],
    "fences": repeated("```\n"),
    "fence of quotes": counted("%d\n", start="```quote\n"),
    "nested fences": lambda size: "".join("`" * n + "quote\n" for n in range(300, 3, -1))[:size],
    "spoilers": repeated("```spoiler a\nb\n```\n"),
    "code": lambda size: ("```python\n" + "def f(x): return '\"(\n" * (size // 20 + 1))[:size],
    "code of quotes": lambda size: ("```js\n" + "/'\"`" * (size // 4 + 1))[:size],
    "stars": repeated("*"),
    "starred letters": repeated("*a "),
    "stars both ways": repeated("*a**b"),
    "underscores": repeated("_a"),
    "tildes": repeated("~~a"),
    "brackets": repeated("["),
    "bracket pairs": nested("[", "]"),
    "links of brackets": nested("[", "](a)"),
    "empty links": repeated("[]("),
    "titles": repeated('[a](b "'),
    "pictures": repeated("![a](http://a.example/b.png)"),
    "unfinished pictures": repeated("![["),
    "references": counted("[a%d]: b\n"),
    "users": counted("@**Person %d**"),
    "users by id": counted("@**|%d**"),
    "silent users": counted("@_**Person %d**"),
    "unfinished users": repeated("@**"),
    "wildcard mentions": repeated("@**all**"),
    "groups": counted("@*group %d*"),
    "unfinished groups": repeated("@*"),
    "channels": counted("#**channel %d**"),
    "topics": counted("#**channel %d>topic %d**"),
    "messages": counted("#**channel %d>topic@%d**"),
    "unfinished channels": repeated("#**"),
    "linkified": counted("#%d "),
    "quotes": repeated(">"),
    "nested quotes": lambda size: "".join(">" * n + "a\n" for n in range(1, 450))[:size],
    "lists": repeated("- "),
    "nested lists": lambda size: "".join("  " * n + "- a\n" for n in range(450))[:size],
    "numbered": counted("%d. a\n"),
    "headings": repeated("#\n"),
    "table cells": table,
    "table rows": lambda size: ("|a|b\n|-|-\n" + "|1|2\n" * (size // 5 + 1))[:size],
    "table candidates": repeated("|a\n|-\n"),
    "maths": repeated("$$a$$ "),
    "unfinished maths": repeated("$$"),
    "emoji names": repeated(":smile: "),
    "unfinished emoji names": repeated(":a"),
    "emoji": repeated("\U0001f600"),
    "families": repeated("\U0001f469‍\U0001f469‍\U0001f467"),
    "flags": repeated("\U0001f1e6"),
    "times": repeated("<time:2026-11-21T12:00:00Z>"),
    "unfinished times": repeated("<time:"),
    "HTML": repeated("<b a='"),
    "nested HTML": nested("<b>", "</b>"),
    "comments": repeated("<!--"),
    "entities": repeated("&#x41;"),
    "unfinished entities": repeated("&#"),
    "backslashes": repeated("\\"),
    "escapes": repeated("\\*"),
    "single quotes": repeated("'"),
    "double quotes": repeated('"'),
    "quoted words": repeated('"a" '),
    "line breaks": repeated("a\n"),
    "empty lines": repeated("\n\n"),
    "carriage returns": repeated("\r\n"),
    "spaces": lambda size: "a" + " " * (size - 2) + "a",
    "tabs": repeated("\t"),
    "percents": repeated("%"),
    "percent escapes": repeated("%41"),
    "braces": repeated("{a"),
    "templates": counted("{a%d}"),
    "groups of a pattern": lambda size: "(?P<a>a)" + repeated("(a|b)?")(max(size - 8, 0)),
    "repetitions of a pattern": lambda size: "(?P<a>a){1,100}" + repeated("(a{1,50}){1,20}")(size),
    "digits": repeated("9"),
    "dots": repeated("."),
    "dashes": repeated("-"),
    "at signs": repeated("a@"),
    "address": lambda size: "a" * max(size - 12, 1) + "@acme.example",
    "domain": lambda size: ("a@" + "b." * size)[: max(size - 3, 2)] + "com",
    "addresses": counted("a%d@x.xn--bcher-kva.example,"),
    "labels": lambda size: ("a@" + "xn--a." * size)[: max(size - 3, 2)] + "com",
    "dashed labels": repeated("xn--"),
    "mixed scripts": repeated("a\u0431\u03b3\u6f22\u0639"),
    "combining": repeated("a\u0301\u0302\u0303\u0323"),
    "combining in disorder": repeated("\u0323\u0301\u0328\u0345"),
    "expanding": repeated("ﷺ"),
    "folding": repeated("ΐİß"),
    "Hangul": repeated("\u1100\u1161\u11a8"),
    "invisible": repeated("\u200b"),
    "right to left": repeated("\u202e"),
    "JSON, deep": lambda size: "[" * min(size // 2, 60) + "]" * min(size // 2, 60),
    "JSON, flat": lambda size: "[" + "0," * ((size - 3) // 2) + "0]",
    "JSON, keys": lambda size: counted('"k%d":0,', start="{")(size - 8) + '"k":0}',
    "slashes": repeated("/"),
    "schemes": repeated("javascript:"),
    "leet": repeated("4@8({[<369!1|10$57+2%"),
    "keyboard walks": repeated("qazwsxedcrfvtgb"),
    "dates": repeated("2026-11-21 "),
    "token": repeated("eyJhbGciOiJIUzI1NiJ9."),
}


class Pools:
    """Stored ids and names by kind, for use in requests."""

    def __init__(
        self, numbers: Mapping[str, Sequence[int]], texts: Mapping[str, Sequence[str]]
    ) -> None:
        self.numbers = numbers
        self.texts = texts


def fillings(document: Document, place: Place, pools: Pools) -> Iterator[tuple[str, Filling]]:
    """Yield each filling of a place, by name."""
    schema = place.schema
    if "enum" in schema:
        return
    match place.type:
        case "string":
            most = schema.get("maxLength", 2000)
            for size in {most, min(most, LONGEST_STORED)}:
                of = f" ({size})" if size < most else ""
                for name, make in TEXTS.items():
                    yield name + of, partial(_part_of, make, size)
        case "integer":
            for number in {schema.get("maximum", 2**31 - 1), schema.get("minimum", 0)}:
                yield f"{number}", lambda part, number=number: int(number * part)
        case "array":
            yield from _arrays(document, place, pools)
        case "object":
            yield from _objects()


def _part_of(make: Callable[[int], str], size: int, part: float) -> str:
    return fitting(make, int(size * part))


def fitting(make: Callable[[int], str], size: int) -> str:
    """Return a text of at most that many characters, which fits the size limit of a request."""
    text = make(min(size, MAX_BYTES))[:size]
    weight = len(orjson.dumps(text))
    if weight > MAX_BYTES:
        text = text[: len(text) * MAX_BYTES // weight]
    return text


def _arrays(document: Document, place: Place, pools: Pools) -> Iterator[tuple[str, Filling]]:
    items = document.resolved(place.schema["items"])
    most = place.schema.get("maxItems", 100_000)
    alternatives = items.get("oneOf") or items.get("anyOf") or [items]
    for number, alternative in enumerate(map(document.resolved, alternatives)):
        kinds: dict[str, Callable[[int], Any]] = {}
        match alternative.get("type"):
            case "integer":
                for name, pool in pools.numbers.items():
                    kinds[name] = lambda n, pool=pool: pool[n % len(pool)]
                kinds["unknown"] = lambda n: 1_000_000_000 + n
                kinds["the same"] = lambda n: 1
            case "string":
                longest = min(alternative.get("maxLength", 1000), MAX_BYTES // most)
                for name, texts in pools.texts.items():
                    kinds[name] = lambda n, pool=texts: pool[n % len(pool)]
                kinds["fresh"] = lambda n: f"fresh {n}"
                kinds["long"] = partial(_long, longest, "x")
                kinds["expanding"] = partial(_long, longest // 6, "ﷺ")
                kinds["the same"] = lambda n: "fresh"
            case "array":
                kinds["pairs"] = lambda n, one=alternative: document.typical(one, n)
            case _:
                kinds.update(_items(document, alternative, pools, MAX_BYTES // most))
        for name, kind in kinds.items():
            label = f"{name} items" + (f" (alternative {number})" if number else "")
            yield label, lambda part, kind=kind: [kind(n) for n in range(int(most * part))]


def _long(size: int, letter: str, number: int) -> str:
    return f"{number} ".ljust(size, letter)[:size]


def _items(
    document: Document, schema: Any, pools: Pools, most: int
) -> dict[str, Callable[[int], Any]]:
    """Return objects for an array: with the numbers of each pool, the texts of each, and long
    values.
    """
    properties = schema.get("properties", {})

    def item(n: int, numbers: Callable[[int], int], texts: Callable[[str, int], str]) -> Any:
        made = {}
        for key, inner in properties.items():
            inner = document.resolved(inner)
            inner = (inner.get("oneOf") or [inner])[0]
            plain = "enum" not in inner and "pattern" not in inner
            if inner.get("type") == "integer" and plain:
                made[key] = numbers(n)
            elif inner.get("type") == "string" and plain:
                made[key] = texts(key, n)[: inner.get("maxLength", 1000)]
            else:
                made[key] = document.typical(inner, n, key)
        return made

    kinds: dict[str, Callable[[int], Any]] = {
        f"{name} of objects": lambda n, pool=pool: item(
            n, lambda n: pool[n % len(pool)], lambda key, n: f"{key} {n}"
        )
        for name, pool in pools.numbers.items()
    }
    for name, texts in pools.texts.items():
        kinds[f"{name} of objects"] = lambda n, texts=texts: item(
            n, lambda n: n, lambda key, n: texts[n % len(texts)]
        )
    longest = max(most // max(len(properties), 1) - 40, 1)
    kinds["long objects"] = lambda n: item(
        n, lambda n: 10**9 + n, lambda key, n: f"{n} ".ljust(longest, "x")
    )
    kinds["the same objects"] = lambda n: item(0, lambda n: 1, lambda key, n: "same")
    return kinds


def _objects() -> Iterator[tuple[str, Filling]]:
    """Yield values for an object with any keys, up to the size limit of a request."""

    def deep(part: float) -> Any:
        made: Any = 0
        for _ in range(int(28 * part)):
            made = {"a": made}
        return made

    yield "many keys", lambda part: {f"k{n}": n for n in range(int(40_000 * part))}
    yield (
        "choices",
        lambda part: {
            str(n): {"text": f"choice {n}", "order": str(n)} for n in range(int(12_000 * part))
        },
    )
    yield (
        "long keys",
        lambda part: {
            f"{n}".ljust(900, "k"): {"text": "a", "order": "1"} for n in range(int(900 * part))
        },
    )
    yield "a long text", lambda part: {
        "0": {"text": "a" * int(MAX_BYTES * part), "order": "1"}, "subtype": "a"
    }  # fmt: skip
    yield "deep", deep
