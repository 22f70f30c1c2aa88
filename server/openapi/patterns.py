"""Regular expressions as people write them, for the validator of schemas.

JSON Schema recommends ECMA-262 in its Unicode mode, which is what the validator reads. Documents
also hold what browsers take beside it (ECMA-262, Annex B.1.2): a hyphen beside a class
(`[\\w-.]`), and a brace that begins no quantifier (`^{id}$`).
"""

import re
from typing import Any

import jsonschema_rs

OPTIONS: dict[str, Any] = {
    "pattern_options": jsonschema_rs.FancyRegexOptions(size_limit=2**26, dfa_size_limit=2**26)
}
"""For each validator: as many bytes for a compiled pattern as `\\S{1,8192}` needs."""
_TOKEN = re.compile(
    r"(?P<members>\[\^?(?:[^\]\\]|\\.)*+\])"
    r"|\[.*+"  # a class without an end: all that is left, or each bracket would be tried
    r"|\\(?:[pPu]\{[^}]{0,100}+\}|.)"  # an escape
    r"|\{\d+(?:,\d*)?\}"  # a quantifier
    r"|(?P<brace>[{}])",
    re.DOTALL,
)
_MEMBER = re.compile(r"(\\[dDwWsS])-(?!\])|(?<!\[)(?<!\[\^)-(?=\\[dDwWsS])|\\.", re.DOTALL)


def in_unicode_mode(pattern: str) -> str:
    """Return a pattern with the escapes that ECMA-262 demands in its Unicode mode."""
    return _TOKEN.sub(_escaped, pattern)


def _escaped(token: re.Match[str]) -> str:
    if token["brace"]:
        return f"\\{token[0]}"
    return _MEMBER.sub(_with_hyphen, token[0]) if token["members"] else token[0]


def _with_hyphen(found: re.Match[str]) -> str:
    if found[1]:
        return f"{found[1]}\\-"
    return "\\-" if found[0] == "-" else found[0]
