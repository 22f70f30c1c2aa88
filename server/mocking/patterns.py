"""Text that matches a regular expression of JSON Schema, whose dialect is ECMA-262's.

Python's parser reads the expression. Assertions are passed over, so a text has to be
checked, and another one made where it does not match.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from random import Random
from re import _parser  # type: ignore[attr-defined]  # typeshed has it under another name
from typing import Any

POOL = string.ascii_letters + string.digits + "-_. " + string.punctuation
_CLASSES = {
    "L": "A-Za-z",
    "Lu": "A-Z",
    "Ll": "a-z",
    "N": "0-9",
    "Nd": "0-9",
    "P": "!-/",
    "S": "$+<=>",
}
_LONG = {"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Number": "N"}
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_SPACE": " ",
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
}
_MORE = 12
"""How often something is repeated at most beyond what it has to be, and beyond what is wanted."""


def texts(pattern: str, rng: Random, *, shortest: int, longest: int) -> Iterator[str]:
    """Yield texts for a pattern, each with another length, within bounds that it may miss.

    Nothing is yielded for a pattern that Python cannot read.
    """
    try:
        tree = _parser.parse(_in_python(pattern))
    except (re.error, RecursionError, OverflowError):
        return
    is_open = not pattern.endswith("$") or pattern.endswith("\\$")
    for most in (0, 1, 2, 4, 8, 16, shortest, shortest, shortest, min(longest, shortest + 64)):
        text = _Writer(rng, most).write(tree)
        if is_open and len(text) < shortest:
            text += "a" * (shortest - len(text))
        yield text


def _in_python(pattern: str) -> str:
    """Return an expression of ECMA-262 as Python writes it."""
    pattern = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern)
    pattern = re.sub(r"\\k<(\w+)>", r"(?P=\1)", pattern)
    pattern = re.sub(r"\\u\{([0-9A-Fa-f]+)\}", lambda m: re.escape(chr(int(m[1], 16))), pattern)
    result, in_class, at = [], False, 0
    for found in re.finditer(r"\\([pP])\{(?:\w+=)?(\w+)\}|\\.|[\[\]]", pattern, re.DOTALL):
        result.append(pattern[at : found.start()])
        at = found.end()
        piece = found[0]
        if found[1]:
            name = _LONG.get(found[2], found[2])
            chosen = _CLASSES.get(name, "A-Za-z")
            if in_class:
                piece = chosen if found[1] == "p" else " "
            else:
                piece = f"[{chosen}]" if found[1] == "p" else f"[^{chosen}]"
        elif piece == "[":
            piece = "\\[" if in_class else "["
            in_class = True
        elif piece == "]":
            in_class = False
        elif re.fullmatch(r"\\[A-Za-z]", piece) and piece[1] not in "dDwWsSbBnrtfvxuk":
            piece = piece[1]
        result.append(piece)
    return "".join(result) + pattern[at:]


class _Writer:
    """Writes one text for a parsed expression; `most`: the repetitions that are wanted."""

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
                return next(each for each in POOL if each != chr(value))
            case "ANY":
                return self._rng.choice(string.ascii_lowercase)
            case "IN":
                return self._one_of(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, tree = value
                most = min(int(most), max(least + min(self._most, _MORE), self._most))
                return "".join(
                    self.write(tree) for _ in range(self._rng.randint(least, max(least, most)))
                )
            case "SUBPATTERN":
                text = self.write(value[-1])
                self._groups[value[0]] = text
                return text
            case "BRANCH":
                return self.write(self._rng.choice(value[1]))
            case "ATOMIC_GROUP":
                return self.write(value)
            case "GROUPREF":
                return self._groups.get(value, "")
            case "GROUPREF_EXISTS":
                group, yes, no = value
                return self.write((yes if group in self._groups else no) or ())
        return ""  # an assertion

    def _one_of(self, members: Any) -> str:
        is_negated = str(members[0][0]) == "NEGATE"
        fitting = [each for each in POOL if _is_in(each, members) is not is_negated]
        plain = [each for each in fitting if each.isalnum()]
        if fitting:
            return self._rng.choice(plain or fitting)
        for code, value in members:
            if str(code) == "LITERAL":
                return chr(value)
            if str(code) == "RANGE":
                return chr(self._rng.randint(*value))
        return "é"


def _is_in(character: str, members: Any) -> bool:
    for code, value in members:
        match str(code):
            case "LITERAL" if character == chr(value):
                return True
            case "RANGE" if value[0] <= ord(character) <= value[1]:
                return True
            case "CATEGORY":
                name = str(value)
                negated = "_NOT_" in name
                if (character in _CATEGORIES[name.replace("_NOT", "")]) is not negated:
                    return True
    return False
