"""The styles of OpenAPI, by which texts of parameters become values. They are the forms of RFC
6570.

OpenAPI 3.2.0, section 4.12.3 "Style Values" (3.0.4 and 3.1.2 have the same without `cookie`).
Values are separated before they are percent-decoded, so that a value may contain an encoded
separator. Most clients also encode the commas in a query, so if there is no unencoded comma, `%2C`
is the separator. The combinations that the specification calls "n/a" are refused when the document
is compiled. Nested arrays and objects, which RFC 6570 leaves undefined, are JSON, as Swagger UI
writes them. `deepObject` is not a form of RFC 6570. It is read as clients of large services write
it, with brackets for each level (`a[b][c]=1`, `a[]=1`, `a[0]=1`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from specd._engine.document.kinds import MISSING, Kinds, Shape, is_composite
from specd._engine.errors import DocumentError, invalid
from specd._engine.http.guard import decode_percent, decode_text, load_json, pointer_step, unquote

RawTexts = Mapping[str, Sequence[bytes]]
"""The sent values by name, with their percent-encoding."""
Read = Callable[[RawTexts], Any]
"""Returns the value of one parameter from all texts of one place, or `MISSING`."""
Text = Callable[[bytes, str], str]
"""Returns the text of a raw value at a JSON pointer. Raises `InvalidRequest`."""

STYLES: Mapping[str, frozenset[str]] = {
    "path": frozenset(("matrix", "label", "simple")),
    "query": frozenset(("form", "spaceDelimited", "pipeDelimited", "deepObject")),
    "header": frozenset(("simple",)),
    "cookie": frozenset(("form", "cookie")),
}
"""The styles of each place."""
DEFAULT_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
"""The styles of parameters without `style`."""
DEEPEST = 32
"""The maximum number of levels of a `deepObject` below the first."""
_REPEATING = ("form", "cookie")
"""Styles whose pairs are the pairs of their place, so that one value may consist of
several pairs.
"""

INTEGER = re.compile(r"-?[0-9]{1,400}")
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][-+]?[0-9]{1,3})?")
_SPACE = re.compile(rb"%20|[+ ]")
_PIPE = re.compile(rb"%7[cC]|\|")
_BARE_SPACE = re.compile(rb" ")
_BARE_PIPE = re.compile(rb"\|")
_COMMA = re.compile(rb",")
_INDEX = re.compile(r"[0-9]{0,9}")
_ENCODED_COMMA = re.compile(rb"%2[cC]")
_HEADER_COMMA = re.compile(rb"[ \t]*,[ \t]*")  # optional white space (RFC 9110, section 5.6.1)
_DOT = re.compile(rb"\.")


def scalar(text: str, kinds: Kinds) -> Any:
    """Return `text` as an integer, a number or a boolean, whichever is allowed and fits first, or
    else as text.
    """
    if "integer" in kinds and INTEGER.fullmatch(text):
        return int(text)
    if "number" in kinds and _NUMBER.fullmatch(text):
        number = float(text)
        if abs(number) != float("inf"):
            return int(text) if INTEGER.fullmatch(text) else number
    if "boolean" in kinds and text in ("true", "false"):
        return text == "true"
    return text


@dataclass(frozen=True, slots=True)
class Style:
    """The notation of the value of a parameter or field."""

    name: str
    explode: bool

    @property
    def repeats(self) -> bool:
        """Whether each item of an array is sent under the repeated name of the parameter."""
        return self.explode and self.name in _REPEATING


def one_or_list(
    read: Callable[..., Any], items: Kinds, takes: Callable[[Any], bool]
) -> Callable[..., Any]:
    """Return a function that reads a value that may be a list or a single value. A single value
    that does not fit becomes the only item of a list, because RFC 6570 writes a list of one item in
    this way.
    """

    def read_one_or_list(*sent: Any) -> Any:
        value = read(*sent)
        if value is MISSING or value is None or isinstance(value, list | dict) or takes(value):
            return value
        only = [scalar(value, items) if isinstance(value, str) else value]
        return only if takes(only) else value

    return read_one_or_list


def style_of(node: Mapping[str, Any], where: str, place: str) -> Style:
    """Return the style of a parameter, header or encoding. Raise `DocumentError` for a style that
    is not allowed in its place.
    """
    name = node.get("style", DEFAULT_STYLES[where])
    if name not in STYLES[where]:
        known = ", ".join(sorted(STYLES[where]))
        raise DocumentError(f"{place}: style {name} is not one of a {where} parameter: {known}")
    return Style(name, bool(node.get("explode", name in _REPEATING)))


def check_style(style: Style, shape: Shape, place: str) -> None:
    """Raise `DocumentError` for a value that the specification does not define in this style."""
    name = style.name
    if name == "deepObject":
        return
    if shape.is_array and shape.is_object:
        fault = "may be both an array and an object, which look the same"
    elif name in ("spaceDelimited", "pipeDelimited") and shape.is_scalar:
        fault = "is for arrays and objects, and this is neither"
    elif name in ("spaceDelimited", "pipeDelimited") and style.explode:
        fault = "is not defined with explode: true"
    else:
        return
    raise DocumentError(f"{place}: style {name} {fault}: use `content: application/json`")


def from_query(raw: bytes, pointer: str) -> str:
    """Return the text of a value in a query or a form (WHATWG URL, section 5.1)."""
    return decode_text(unquote(raw.replace(b"+", b" ")), pointer)


def from_reserved(raw: bytes, pointer: str) -> str:
    """Return the text of a value with `allowReserved`, in which a plus sign is not a space (RFC
    6570, section 3.2.3).
    """
    return decode_text(unquote(raw), pointer)


def from_header(raw: bytes, pointer: str) -> str:
    """Return the text of a header's value, which has no percent-encoding."""
    return raw.decode("latin-1")


TEXTS: Mapping[str, Text] = {
    "path": decode_percent,
    "query": from_query,
    "header": from_header,
    "form": from_reserved,
    "cookie": decode_text,
}
"""The decoding of texts in each place, and of cookies by their style."""


def compile_read(
    name: str,
    style: Style,
    shape: Shape,
    text: Text,
    where: str,
    is_foreign: Callable[[str], bool] = lambda _: False,
) -> Read:
    """Return the function that reads the value of one parameter from the texts of its place. Names
    for which `is_foreign` is true belong to other parameters.
    """
    reader = _Reader(name, style, shape, text, where, is_foreign)
    if style.name == "deepObject":
        return reader.deep
    if style.name in _REPEATING and style.explode and not shape.is_scalar:
        read = reader.spread if shape.is_object else reader.repeated
        if where == "cookie" and style.name == "form":
            return lambda sent: read(with_ampersands(sent))
        return read
    if style.name == "matrix":
        return reader.matrix
    if style.name == "label":
        return reader.label
    return reader.one


class _Reader:
    """Reads one parameter. Each public method reads one notation."""

    def __init__(
        self,
        name: str,
        style: Style,
        shape: Shape,
        text: Text,
        where: str,
        is_foreign: Callable[[str], bool],
    ) -> None:
        self._name = name
        self._is_foreign = is_foreign
        self._shape = shape
        self._text = text
        self._pointer = f"/{where}/{pointer_step(name)}"
        self._explode = style.explode
        separators = {"spaceDelimited": _SPACE, "pipeDelimited": _PIPE}
        if text is decode_text:  # a part of a form, which has no percent-encoding
            separators = {"spaceDelimited": _BARE_SPACE, "pipeDelimited": _BARE_PIPE}
        comma = _HEADER_COMMA if where == "header" else _COMMA
        dots = style.name == "label" and style.explode
        self._separator = _DOT if dots else separators.get(style.name, comma)
        self._may_encode_commas = where == "query" and style.name == "form"

    def one(self, sent: RawTexts) -> Any:
        """Read a single text: `blue`, `blue,black`, `R,100,G,200`, exploded `R=100,G=200`."""
        raw = self._last(sent)
        return MISSING if raw is None else self._value(raw)

    def repeated(self, sent: RawTexts) -> Any:
        """Read `color=blue&color=black`."""
        raws = sent.get(self._name)
        if raws is None:
            return MISSING
        return self._array(raws) if len(raws) > 1 else self._single_or(self._array, raws)

    def spread(self, sent: RawTexts) -> Any:
        """Read `R=100&G=200`, with each property under its own name."""
        shape = self._shape
        if shape.scalars and self._name in sent and self._name not in shape.properties:
            return scalar(self._decode(sent[self._name][-1]), shape.scalars)
        found = {
            name: raws[-1]
            for name, raws in sent.items()
            if name in shape.properties or (shape.takes_others and not self._is_foreign(name))
        }
        return self._object(found.items()) if found else MISSING

    def deep(self, sent: RawTexts) -> Any:
        """Read `color[R]=100&color[G]=200`."""
        start = self._name + "["
        found = [
            (name[len(start) : -1].split("]["), raws)
            for name, raws in sent.items()
            if name.startswith(start) and name.endswith("]")
        ]
        if found:
            return self._nested(found, self._shape)
        raws = sent.get(self._name)
        return MISSING if raws is None else self._innermost(raws, self._shape)

    def _nested(self, sent: Iterable[tuple[list[str], Sequence[bytes]]], shape: Shape) -> Any:
        """Return the value of texts whose names have one or more steps."""
        parts: dict[str, list[tuple[list[str], Sequence[bytes]]]] = {}
        values: dict[str, Sequence[bytes]] = {}
        for (step, *others), raws in sent:
            if len(others) > DEEPEST:
                raise invalid(self._pointer, "has too many levels", "style")
            if others:
                parts.setdefault(step, []).append((others, raws))
            else:
                values[step] = raws
        if shape.is_array and all(_INDEX.fullmatch(step) for step in {**parts, **values}):
            item = shape.part(None)
            listed = [self._innermost([raw], item) for raw in values.pop("", ())]
            found = {step: self._innermost(raws, item) for step, raws in values.items()}
            found |= {step: self._nested(part, item) for step, part in parts.items()}
            return listed + [found[step] for step in sorted(found, key=lambda step: int(step or 0))]
        return {
            **{step: self._innermost(raws, shape.part(step)) for step, raws in values.items()},
            **{step: self._nested(part, shape.part(step)) for step, part in parts.items()},
        }

    def _innermost(self, raws: Sequence[bytes], shape: Shape) -> Any:
        if shape.is_array and not shape.scalars:
            return [self._inner(raw, shape.items) for raw in raws]
        return scalar(self._decode(raws[-1]), shape.scalars)

    def label(self, sent: RawTexts) -> Any:
        """Read `.blue`, `.blue,black`, exploded `.blue.black` and `.R=100.G=200`."""
        raw = self._last(sent)
        if raw is None:
            return MISSING
        if not raw.startswith(b"."):
            raise invalid(self._pointer, "must begin with a dot", "style")
        return self._value(raw[1:])

    def matrix(self, sent: RawTexts) -> Any:
        """Read `;color=blue`, `;color=blue,black`, exploded `;color=blue;color=red`,
        `;R=100;G=200`.
        """
        raw = self._last(sent)
        if raw is None:
            return MISSING
        empty, *parts = raw.split(b";")
        pairs = [self._pair(part) for part in parts]
        spreads = self._explode and self._shape.is_object
        if empty or not pairs or not (spreads or all(name == self._name for name, _ in pairs)):
            example = "name=value" if spreads else self._name
            raise invalid(self._pointer, f"must begin with ;{example}", "style")
        if spreads:
            return self._object(pairs)
        raws = [value for _, value in pairs]
        if self._explode and self._shape.is_array:
            return self._array(raws) if len(raws) > 1 else self._single_or(self._array, raws)
        if len(raws) > 1:
            raise invalid(self._pointer, "must come once", "style")
        return self._value(raws[0])

    def _value(self, raw: bytes) -> Any:
        shape = self._shape
        if shape.is_scalar:
            return scalar(self._decode(raw), shape.scalars)
        parts = self._separator.split(raw)
        if len(parts) == 1 and self._may_encode_commas and not is_composite(shape.items):
            parts = _ENCODED_COMMA.split(raw)
        if shape.is_array:
            return self._array(parts) if len(parts) > 1 else self._single_or(self._array, parts)
        if self._explode:
            if all(b"=" in part for part in parts):
                return self._object(map(self._pair, parts))
        elif len(parts) % 2 == 0:
            names = (self._decode(part) for part in parts[::2])
            return self._object(zip(names, parts[1::2], strict=True))
        return scalar(self._decode(raw), shape.scalars)  # not an object: validation reports it

    def _single_or(self, otherwise: Callable[[Sequence[bytes]], Any], raws: Sequence[bytes]) -> Any:
        """Return the value of a text that may be a scalar, or the only item of a list."""
        if not self._shape.scalars:
            return otherwise(raws)
        return scalar(self._decode(raws[0]), self._shape.scalars)

    def _array(self, raws: Sequence[bytes]) -> list[Any]:
        return [self._inner(raw, self._shape.items) for raw in raws]

    def _object(self, pairs: Iterable[tuple[str, bytes]]) -> dict[str, Any]:
        kinds = self._shape.kinds_of_property
        return {name: self._inner(raw, kinds(name)) for name, raw in pairs}

    def _inner(self, raw: bytes, kinds: Kinds) -> Any:
        """Return an item or a property. If it can only be an array or an object, it is JSON."""
        text = self._decode(raw)
        if is_composite(kinds):
            return load_json(text.encode(), self._pointer)
        return scalar(text, kinds)

    def _pair(self, raw: bytes) -> tuple[str, bytes]:
        name, _, value = raw.partition(b"=")
        return self._decode(name), value

    def _decode(self, raw: bytes) -> str:
        return self._text(raw, self._pointer)

    def _last(self, sent: RawTexts) -> bytes | None:
        raws = sent.get(self._name)
        return None if raws is None else raws[-1]


def cookie_pairs(header: bytes) -> dict[str, list[bytes]]:
    """Return the values in a Cookie header by name (RFC 6265, section 4.2.1)."""
    pairs: dict[str, list[bytes]] = {}
    for pair in header.split(b";"):
        name, equals, value = pair.strip(b" \t").partition(b"=")
        if equals:
            pairs.setdefault(_cookie_name(name), []).append(value)
    return pairs


def _cookie_name(raw: bytes) -> str:
    """Return a cookie's name as text. Characters that are not allowed in it are sent as UTF-8, or
    percent-encoded as in RFC 6570.
    """
    if raw.isascii() and b"%" not in raw:
        return raw.decode("ascii")
    for each in (unquote(raw), raw):
        with suppress(UnicodeDecodeError):
            name = each.decode("utf-8")
            if not name.isascii():
                return name
    return raw.decode("latin-1")


def with_ampersands(cookies: RawTexts) -> RawTexts:
    """Return cookies, with values that contain `&name=value` split.

    Forms of RFC 6570 are separated by ampersands, and cookies by semicolons. According to OpenAPI
    3.2.0, appendix D, neither is right for exploded values, so both are read.
    """
    pairs: dict[str, list[bytes]] = {}
    for name, values in cookies.items():
        for value in values:
            first, *others = value.split(b"&")
            pairs.setdefault(name, []).append(first)
            for other in others:
                key, _, rest = other.partition(b"=")
                pairs.setdefault(_cookie_name(key), []).append(rest)
    return pairs


def names_of(name: str, style: Style, shape: Shape) -> frozenset[str]:
    """Return the names under which a parameter is sent. An exploded object has the names of its
    properties.
    """
    if style.repeats and shape.is_object:
        own = frozenset((name,)) if shape.scalars else frozenset[str]()
        return own | frozenset(shape.properties)
    return frozenset((name,))


def is_deep(name: str, starts: tuple[str, ...]) -> bool:
    """Return whether a name is `object[property]` and begins with one of `starts`."""
    return name.endswith("]") and name.startswith(starts)
