"""Generates texts that match a regular expression of JSON Schema, whose dialect is ECMA-262.

Python's parser reads the expression. Assertions are ignored, so the caller must check a text, and
use another if it does not match.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from re import _parser  # type: ignore[attr-defined]  # typeshed has it under another name
from typing import Any

from specd._engine.openapi.patterns import in_unicode_mode, require_shallow

_POOL = string.ascii_letters + string.digits + "-_. " + string.punctuation
_PROPERTIES = {"Lu": "A-Z", "Ll": "a-z", "N": "0-9", "P": "!-/", "S": "$+<=>"}
"""Characters of each category (Unicode Standard, section 4.5). Other categories are replaced by
letters.
"""
_LONG = {"Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Number": "N", "Nd": "N"}
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
}
_TOKEN = re.compile(r"\\([pP])\{(?:\w+=)?(\w+)\}|\\u\{(\w+)\}|\\k<(\w+)>|\(\?<(?=\w)|\\.|[\[\]]")


def texts(pattern: str, rng: Random, *, shortest: int, longest: int) -> Iterator[str]:
    """Yield texts of different lengths for a pattern. They may exceed the limits.

    Nothing is yielded for a pattern that Python cannot read.
    """
    try:
        require_shallow(pattern)
        tree = _parser.parse(_in_python(in_unicode_mode(pattern)))
    except (re.error, RecursionError, OverflowError):
        return
    is_open = not pattern.endswith("$") or pattern.endswith("\\$")
    for most in (0, 1, 2, 4, 8, 16, shortest, shortest, shortest, min(longest, shortest + 64)):
        text = _Writer(rng, most).write(tree)
        yield text.ljust(shortest, "a") if is_open else text


def _in_python(pattern: str) -> str:
    """Return an ECMA-262 expression in Python's syntax."""
    is_in_class = False

    def translated(found: re.Match[str]) -> str:
        nonlocal is_in_class
        token = found[0]
        if found[1]:
            members = _PROPERTIES.get(_LONG.get(found[2], found[2]), "A-Za-z")
            if is_in_class:
                return members if found[1] == "p" else " "
            return f"[{members}]" if found[1] == "p" else f"[^{members}]"
        if found[3]:
            return re.escape(chr(int(found[3], 16)))
        if found[4]:
            return f"(?P={found[4]})"
        if token == "(?<":
            return token if is_in_class else "(?P<"
        if token == "[" and is_in_class:
            return "\\["
        if token in "[]":
            is_in_class = token == "["
        elif token[1].isalpha() and token[1] not in "dDwWsSbBnrtfvxuk":
            return token[1]
        return token

    return _TOKEN.sub(translated, pattern)


class _Writer:
    """Generates one text for a parsed expression. `most` limits the additional repetitions."""

    def __init__(self, rng: Random, most: int) -> None:
        self._rng = rng
        self._most = most
        self._groups: dict[int, str] = {}

    def write(self, tree: Any) -> str:
        return "".join(self._piece(str(code), value) for code, value in tree)

    def _piece(self, code: str, value: Any) -> str:
        match code:
            case "LITERAL":
                return chr(value)
            case "NOT_LITERAL":
                return self._one_of([("NEGATE", None), ("LITERAL", value)])
            case "ANY":
                return self._rng.choice(string.ascii_lowercase)
            case "IN":
                return self._one_of(value)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, tree = value
                most = min(int(most), least + self._most)
                return "".join(self.write(tree) for _ in range(self._rng.randint(least, most)))
            case "SUBPATTERN":
                text = self.write(value[-1])
                self._groups[value[0]] = text
                return text
            case "BRANCH":
                return self.write(self._rng.choice(value[1]))
            case "GROUPREF":
                return self._groups.get(value, "")
        return ""  # an assertion

    def _one_of(self, members: Any) -> str:
        choices = _find_choices(tuple(members))
        if choices:
            return self._rng.choice(choices)
        code, value = members[0]
        if str(code) == "NEGATE":
            return "é"
        return chr(value if str(code) == "LITERAL" else value[0])


@lru_cache(maxsize=1000)
def _find_choices(members: tuple[Any, ...]) -> list[str]:
    """Return the characters of the pool that a set matches, only letters and digits if possible."""
    is_negated = str(members[0][0]) == "NEGATE"
    fitting = [each for each in _POOL if _is_in(each, members) is not is_negated]
    return [each for each in fitting if each.isalnum()] or fitting


def _is_in(character: str, members: Any) -> bool:
    for code, value in members:
        match str(code):
            case "LITERAL" if character == chr(value):
                return True
            case "RANGE" if value[0] <= ord(character) <= value[1]:
                return True
            case "CATEGORY":
                name = str(value)
                is_negated = "_NOT_" in name
                if (character in _CATEGORIES[name.replace("_NOT", "")]) is not is_negated:
                    return True
    return False
