"""Encodes values of parameters and fields as clients send them, in the styles of OpenAPI.

`specd._engine.document.styles` decodes these values (OpenAPI 3.2.0, section 4.12.3; RFC 6570,
section 3.2.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from specd._engine.document.media import URLENCODED
from specd._engine.document.styles import Style, style_of

_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "label": ".", "matrix": ";"}


def in_path(parameter: Mapping[str, Any], value: Any) -> str:
    """Return the text that replaces `{name}` in a path."""
    if "content" in parameter:
        return _quoted(json.dumps(value))
    style = style_of(parameter, "path", parameter["name"])
    name = quote(parameter["name"], safe="")
    separator = _SEPARATORS.get(style.name, ",") if style.explode else ","
    items = _items(value, explode=style.explode)
    if style.name == "matrix":
        if style.explode and isinstance(value, list):
            items = [f"{name}={item}" for item in items]
        elif not style.explode or not isinstance(value, dict):
            return f";{name}={','.join(items)}"
    first = "" if style.name == "simple" else _SEPARATORS[style.name]
    return first + separator.join(items)


def in_query(parameter: Mapping[str, Any], value: Any) -> str:
    """Return the pairs of a parameter in a query, `name=value&name=value`."""
    name = quote(parameter["name"], safe="")
    if "content" in parameter:
        (media_type,) = parameter["content"]
        if parameter["in"] == "querystring":
            text = urlencode(value, doseq=True) if media_type == URLENCODED else ""
            return text or _quoted(json.dumps(value))
        return f"{name}={_quoted(json.dumps(value))}"
    return _pairs(name, value, style_of(parameter, "query", name))


def in_header(parameter: Mapping[str, Any], value: Any) -> str:
    """Return the value of a header, which has no percent-encoding."""
    if "content" in parameter:
        return json.dumps(value)
    explode = style_of(parameter, "header", parameter["name"]).explode
    return ",".join(_items(value, explode=explode, quoted=text_of))


def in_cookie(parameter: Mapping[str, Any], value: Any) -> str:
    """Return the pairs of a `Cookie` header, `name=value; name=value`."""
    name = parameter["name"]
    if "content" in parameter:
        return f"{name}={_quoted(json.dumps(value))}"
    return _pairs(name, value, style_of(parameter, "cookie", name)).replace("&", "; ")


def fields_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a form: texts, or lists of texts for repeated names."""
    return {
        name: [text_of(item) for item in part] if isinstance(part, list) else text_of(part)
        for name, part in value.items()
    }


def text_of(value: Any) -> str:
    """Return the text of a value that is not split further. A text is not changed, and other values
    become JSON.
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _quoted(value: Any) -> str:
    return quote(text_of(value), safe="")


def _items(value: Any, *, explode: bool, quoted: Any = _quoted) -> list[str]:
    """Return the encoded parts of a value, to be joined by a separator."""
    if isinstance(value, dict):
        if explode:
            return [f"{quoted(key)}={quoted(part)}" for key, part in value.items()]
        return [quoted(each) for pair in value.items() for each in pair]
    return [quoted(each) for each in (value if isinstance(value, list) else [value])]


def _pairs(name: str, value: Any, style: Style) -> str:
    if style.name == "deepObject":
        return "&".join(_deep(name, value))
    if style.explode and isinstance(value, list):
        return "&".join(f"{name}={each}" for each in _items(value, explode=True))
    if style.explode and isinstance(value, dict):
        return "&".join(_items(value, explode=True))
    separator = _SEPARATORS.get(style.name, ",")
    return f"{name}={separator.join(_items(value, explode=False))}"


def _deep(name: str, value: Any) -> Iterator[str]:
    """Yield a pair for each value of an object and of the objects and arrays in it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _deep(f"{name}%5B{_quoted(key)}%5D", part)
    elif isinstance(value, list):
        for part in value:
            yield from _deep(f"{name}%5B%5D", part)
    else:
        yield f"{name}={_quoted(value)}"
