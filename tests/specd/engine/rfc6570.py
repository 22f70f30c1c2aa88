"""URI Template expansion, written only from RFC 6570: the text that a client sends for a value.

OpenAPI refers to the expressions `{x}`, `{.x}`, `{;x}` and `{?x}`, each with and without `*` (RFC
6570, section 3.2.1 and appendix A). The other styles follow the table in OpenAPI.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

RESERVED = ":/?#[]@!$&'()*+,;="
# operator -> first, separator, named, text after the name of an empty value
OPERATORS = {
    "": ("", ",", False, ""),
    ".": (".", ".", False, ""),
    ";": (";", ";", True, ""),
    "?": ("?", "&", True, "="),
}
STYLES = {"simple": "", "label": ".", "matrix": ";", "form": "?"}
JOINTS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


def text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def encode(value: Any, reserved: str = "") -> str:
    return quote(text_of(value), safe="-._~" + reserved)


def named(name: str, text: str, if_empty: str) -> str:
    return f"{encode(name)}={text}" if text else encode(name) + if_empty


def expand(operator: str, name: str, value: Any, *, explode: bool, reserved: str = "") -> str:
    """Expand a variable (section 3.2.1)."""
    first, separator, is_named, if_empty = OPERATORS[operator]
    if isinstance(value, Mapping):
        items = [(key, encode(item, reserved)) for key, item in value.items()]
        if explode:
            parts = [
                named(key, text, if_empty) if is_named else f"{encode(key)}={text}"
                for key, text in items
            ]
            return first + separator.join(parts)
        joined = ",".join(f"{encode(key)},{text}" for key, text in items)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        texts = [encode(item, reserved) for item in value]
        if explode:
            return first + separator.join(
                named(name, text, if_empty) if is_named else text for text in texts
            )
        joined = ",".join(texts)
    else:
        joined = encode(value, reserved)
    return first + (named(name, joined, if_empty) if is_named else joined)


def serialize(
    where: str, style: str, name: str, value: Any, *, explode: bool, reserved: bool = False
) -> str:
    """Return the text that a client sends: a path segment, a query without `?`, a header, or a
    Cookie header.
    """
    if style == "deepObject":
        return "&".join(f"{encode(name)}%5B{encode(k)}%5D={encode(v)}" for k, v in value.items())
    if style in JOINTS:
        flat = [x for pair in value.items() for x in pair] if isinstance(value, dict) else value
        return f"{encode(name)}={JOINTS[style].join(encode(item) for item in flat)}"
    if where == "header" or style == "cookie":
        return unescaped(style, name, value, explode=explode)
    text = expand(STYLES[style], name, value, explode=explode, reserved=RESERVED * reserved)
    return text.removeprefix("?")


def unescaped(style: str, name: str, value: Any, *, explode: bool) -> str:
    """Return a header, or cookies in the style of that name in OpenAPI 3.2, without
    percent-encoding.
    """
    if isinstance(value, dict):
        pairs = [(key, text_of(item)) for key, item in value.items()]
        if explode:
            joint = "; " if style == "cookie" else ","
            return joint.join(f"{key}={text}" for key, text in pairs)
        joined = ",".join(f"{key},{text}" for key, text in pairs)
    elif isinstance(value, list):
        if explode and style == "cookie":
            return "; ".join(f"{name}={text_of(item)}" for item in value)
        joined = ",".join(text_of(item) for item in value)
    else:
        joined = text_of(value)
    return f"{name}={joined}" if style == "cookie" else joined
