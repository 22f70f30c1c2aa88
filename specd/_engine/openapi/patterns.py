"""Converts regular expressions in documents for the validator of schemas.

JSON Schema recommends ECMA-262 in its Unicode mode, which is what the validator reads. Documents
also contain the extensions that browsers accept (ECMA-262, Annex B.1.2): a hyphen next to a class
(`[\\w-.]`), a brace that does not begin a quantifier (`^{id}$`), and a bracket that does not end a
class. The validator does not support some notations of ECMA-262 (`[^]`, `\\0`, `[\\b]`), which are
replaced.
"""

import re
from typing import Any

import jsonschema_rs

OPTIONS: dict[str, Any] = {
    "pattern_options": jsonschema_rs.FancyRegexOptions(size_limit=2**26, dfa_size_limit=2**26)
}
"""Options of each validator. The size limits are sufficient for `\\S{1,8192}`."""
_TOKEN = re.compile(
    r"(?P<members>\[\^?(?:[^\]\\]|\\.)*+\])"
    r"|\[.*+"  # an unclosed class: match the rest, or each bracket would be tried
    r"|\\(?:[pPu]\{[^}]{0,100}+\}|.)"  # an escape
    r"|\{\d+(?:,\d*)?\}"  # a quantifier
    r"|(?P<brace>[{}\]])",
    re.DOTALL,
)
_CLASS_ESCAPE_OR_GROUP = re.compile(r"\[\^?(?:[^\]\\]|\\.)*+\]|\[.*+|\\.|[()]", re.DOTALL)
_DEEPEST = 100
_MEMBER = re.compile(r"(\\[dDwWsS])-(?!\])|(?<!\[)(?<!\[\^)-(?=\\[dDwWsS])|\\.", re.DOTALL)


_CLASSES = {"[^]": r"[\s\S]", "[]": r"[^\s\S]"}
_ESCAPES = {r"\0": r"\x00"}
_LARGE = re.compile(r"\{(\d+)(,?)(\d*)\}")


def smaller(pattern: str) -> str:
    """Return a pattern with quantifiers of at most 2, which is valid if the pattern itself is."""
    return _LARGE.sub(lambda it: "{1,}" if it[2] and not it[3] else "{1,2}", pattern)


def require_shallow(pattern: str) -> None:
    """Raise `RecursionError` for groups that are nested too deeply for Python's parser of regular
    expressions. Python's own limit is not used, because a library may have raised it beyond the
    size of the stack.
    """
    depth = 0
    for match in _CLASS_ESCAPE_OR_GROUP.finditer(pattern):
        depth += (match.group() == "(") - (match.group() == ")")
        if depth > _DEEPEST:
            raise RecursionError


def in_unicode_mode(pattern: str) -> str:
    """Return a pattern with the escapes that ECMA-262 requires in its Unicode mode."""
    return _TOKEN.sub(_escaped, pattern)


def _escaped(token: re.Match[str]) -> str:
    if token["brace"]:
        return f"\\{token[0]}"
    if token["members"]:
        return _CLASSES.get(token[0]) or _MEMBER.sub(_with_hyphen, token[0])
    return _ESCAPES.get(token[0], token[0])


def _with_hyphen(found: re.Match[str]) -> str:
    if found[1]:
        return f"{found[1]}\\-"
    if found[0] == "\\b":
        return "\\x08"
    return "\\-" if found[0] == "-" else _ESCAPES.get(found[0], found[0])
