"""The parameters of an operation: converts texts to values. The functions are compiled once.

A parameter is decoded by its style (styles.py) and the types that its schema accepts (kinds.py),
then all parameters of one place are validated together. A value that cannot be decoded stays text,
so that the validation reports the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from specd._engine.document.aliases import Aliases
from specd._engine.document.json_texts import JsonTexts
from specd._engine.document.kinds import (
    MISSING,
    Kinds,
    default_of,
    fresh,
    is_composite,
    kinds_of,
    shape_of,
)
from specd._engine.document.media import JSON, is_json, is_text
from specd._engine.document.schemas import Schemas, Validate
from specd._engine.document.styles import (
    INTEGER,
    TEXTS,
    RawTexts,
    Read,
    Style,
    Text,
    check_style,
    compile_read,
    from_reserved,
    is_deep,
    names_of,
    one_or_list,
    scalar,
    style_of,
)
from specd._engine.errors import DocumentError, InvalidRequest, Violation
from specd._engine.http.guard import load_json, pointer_step
from specd._engine.openapi.naming import argument_name
from specd._engine.openapi.structure import CONTENT_SCHEMA

Decode = Callable[[list[str], str], Any]
"""Returns one value for the texts sent under one name, and a JSON pointer."""
IGNORED_HEADERS = frozenset(("accept", "content-type", "authorization"))
"""Header parameters that are ignored (OpenAPI 3.2.0, section 4.12.2, `name`)."""
NOTHING_SENT: RawTexts = {}


class ArgumentNames:
    """The keyword arguments of one operation's handler, each for one parameter or field of a
    request.

    If two parameters have the same keyword, the first keeps it, in the order path, query, header,
    cookie, body. The place is appended to the other: `id_`, `id_query`. Duplicates in one place are
    numbered: `a_b`, `a_b_query`, `a_b_query_2`.
    """

    def __init__(self, *reserved: str) -> None:
        self._taken = set(reserved)

    def release(self, argument: str) -> None:
        """Make a reserved keyword available."""
        self._taken.discard(argument)

    def take(self, name: str, where: str) -> str:
        """Reserve and return the keyword of a parameter or field."""
        argument = argument_name(name)
        if argument in self._taken:
            argument = numbered = f"{argument.rstrip('_')}_{where}"
            number = 2
            while argument in self._taken:
                argument, number = f"{numbered}_{number}", number + 1
        self._taken.add(argument)
        return argument


@dataclass(frozen=True, slots=True)
class Parameter:
    """One documented parameter of one operation. Either `decode` or `read` returns its value."""

    name: str
    where: str
    argument: str
    required: bool
    default: Any
    decode: Decode | None
    read: Read | None
    pointer: str
    raw_name: bytes
    may_be_empty: bool = False
    """Whether an empty text is the value None, which is not validated (`allowEmptyValue`)."""

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING


class Parameters:
    """All parameters of one operation in one place: `path`, `query`, `header` or `cookie`."""

    def __init__(
        self,
        where: str,
        declared: Sequence[Mapping[str, Any]],
        schemas: Schemas,
        place: str,
        names: ArgumentNames | None = None,
        *,
        credentials: AbstractSet[str] = frozenset(),
    ) -> None:
        """`credentials` are the names of query parameters that a security scheme reads."""
        names = names or ArgumentNames()
        if where == "header":
            declared = [p for p in declared if p["name"].lower() not in IGNORED_HEADERS]
        self.where = where
        required = [p["name"] for p in declared if p.get("required")]
        by_name = {p["name"]: p for p in declared}
        self._aliases = Aliases(by_name, where, place, required=required)
        all_uses = [_Use(p, schemas, f"{place} {where} parameter {p['name']}") for p in declared]
        uses = [use for use in all_uses if use.name not in self._aliases.of]
        on_wire = _NamesOnWire(uses, f"{place} {where} parameters")
        self._takes_all = on_wire.taker is not None
        self._deep = on_wire.deep
        aliases = frozenset(self._aliases.of)
        self.names = on_wire.names | aliases | credentials
        self.single = self.names - {use.name for use in all_uses if use.repeats}
        """The names that may be sent only once. The others are arrays that are sent as repeated
        names.
        """
        self.declared = tuple(use.compile(names, on_wire.is_foreign) for use in uses)
        self._plain = tuple(each for each in self.declared if each.read is None)
        self._styled = tuple(each for each in self.declared if each.read is not None)
        self._pointer = f"/{where}"
        self.raw_of: Callable[[Any], RawTexts] = _as_it_is
        """Returns the raw texts, with percent-encoding, of the `source` that is passed to
        `arguments`.
        """
        self._validate = self._compile_validation(uses, schemas, place)

    def _compile_validation(self, uses: Sequence[_Use], schemas: Schemas, place: str) -> Validate:
        if not uses:
            return lambda value, pointer: ()
        properties = {use.name: use.schema for use in uses}
        schema = {"type": "object", "properties": properties}
        return schemas.compile(schema, f"{place} {self.where} parameters")

    def unknown_of(self, sent: Mapping[str, Any]) -> set[str]:
        """Return the sent names that no parameter has."""
        if self._takes_all:
            return set()
        unknown = sent.keys() - self.names
        if unknown and self._deep:
            unknown = {name for name in unknown if not is_deep(name, self._deep)}
        return unknown

    def arguments(
        self, sent: Mapping[str, list[str]], source: Any = NOTHING_SENT
    ) -> dict[str, Any]:
        """Return the handler's arguments from the sent texts. `source` contains the same texts with
        their percent-encoding, which some styles need. Raise `InvalidRequest`.
        """
        values: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        violations: list[Violation] = []
        if self._aliases.of:
            sent, violations = self._aliases.resolve(sent)
        for parameter in self._plain:
            texts = sent.get(parameter.name)
            if texts is None:
                if parameter.required:
                    violations.append(Violation(parameter.pointer, "is required", "required"))
                elif parameter.default is not MISSING:
                    arguments[parameter.argument] = fresh(parameter.default)
                continue
            if parameter.may_be_empty and texts == [""]:
                arguments[parameter.argument] = None
                continue
            try:
                value = parameter.decode(texts, parameter.pointer)  # type: ignore[misc]
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            values[parameter.name] = arguments[parameter.argument] = value
        if self._styled:
            violations += self._read(self.raw_of(source), values, arguments)
        # The schema has only properties, so an empty object fits.
        for violation in self._validate(values, self._pointer) if values else ():
            text = values.get(violation.path.split("/")[2]) if violation.rule == "type" else None
            if isinstance(text, str):  # not decoded: a service may quote it in its message
                facts = {**violation.facts, "text": text}
                violation = replace(violation, facts=facts)
            violations.append(violation)
        if violations:
            raise InvalidRequest(violations)
        return arguments

    def _read(
        self, raw: RawTexts, values: dict[str, Any], arguments: dict[str, Any]
    ) -> list[Violation]:
        """Add the values of parameters with a style. Return their violations."""
        violations: list[Violation] = []
        if self._aliases.of:
            raw, twice = self._aliases.resolve(raw)
            if self.where == "cookie":  # elsewhere `arguments` has them already
                violations = twice
        for parameter in self._styled:
            if parameter.may_be_empty and list(raw.get(parameter.name, ())) == [b""]:
                arguments[parameter.argument] = None
                continue
            try:
                value = parameter.read(raw)  # type: ignore[misc]
            except InvalidRequest as error:
                violations.extend(error.violations)
                continue
            if value is not MISSING:
                values[parameter.name] = arguments[parameter.argument] = value
            elif parameter.required:
                violations.append(Violation(parameter.pointer, "is required", "required"))
            elif parameter.default is not MISSING:
                arguments[parameter.argument] = fresh(parameter.default)
        return violations


def is_integer(node: Mapping[str, Any], schemas: Schemas) -> bool:
    """Return whether a path parameter can only be an integer."""
    use = _Use(node, schemas, "")
    return use.decode() is _integer


class _Use:
    """A parameter while its document is compiled."""

    def __init__(self, node: Mapping[str, Any], schemas: Schemas, place: str) -> None:
        self.name: str = node["name"]
        self.where: str = node["in"]
        self._node = node
        self._place = place
        self._schemas = schemas
        self.schema = _schema_of(node)
        self._json: JsonTexts | None = None
        self.media_type = _media_type_of(node, place)
        text = schemas.resolve(self.schema) if isinstance(self.schema, Mapping) else {}
        if CONTENT_SCHEMA in text:
            self.schema, self.media_type = text[CONTENT_SCHEMA], JSON
            self._json = JsonTexts(self.schema, schemas)
        self.style = Style("content", explode=False)
        if self.media_type is None:
            self.style = style_of(node, self.where, place)
            self.shape = shape_of(self.schema, schemas)
            check_style(self.style, self.shape, place)
        else:
            kinds = kinds_of(self.schema, schemas)
            whole = shape_of(self.schema, schemas)
            self.shape = replace(whole, scalars=kinds, is_array=False, is_object=False)
        self.default = default_of(self.schema, schemas)

    @property
    def repeats(self) -> bool:
        if self._json is not None:
            return self.where == "query" and self._json.is_array
        return self.style.repeats and self.shape.is_array

    @property
    def is_spread(self) -> bool:
        """Whether it is an object whose properties are sent under their own names."""
        return self.style.repeats and self.shape.is_object

    def compile(self, names: ArgumentNames, is_foreign: Callable[[str], bool]) -> Parameter:
        decode = self.decode()
        read = None
        if decode is None:
            text = self._text()
            read = compile_read(self.name, self.style, self.shape, text, self.where, is_foreign)
            if self.media_type is not None and is_json(self.media_type):
                pointer = f"/{self.where}/{pointer_step(self.name)}"
                read = partial(_read_json, self.name, pointer)
        if self.shape.is_array and self.shape.scalars:
            takes = self._takes
            if decode is not None:
                decode = one_or_list(decode, self.shape.items, takes)
            if read is not None:
                read = one_or_list(read, self.shape.items, takes)
        return Parameter(
            name=self.name,
            where=self.where,
            argument=names.take(self.name, self.where),
            required=self._node.get("required", False),
            default=self.default,
            decode=decode,
            read=read,
            pointer=f"/{self.where}/{self.name}",
            raw_name=self.name.lower().encode(),
            may_be_empty=self._may_be_empty,
        )

    @property
    def _may_be_empty(self) -> bool:
        """Whether an empty text has a special meaning (OpenAPI 3.0.4, section 4.8.12). If the
        parameter may be text, the value is the empty text.
        """
        allows = self.where == "query" and self._node.get("allowEmptyValue") is True
        kinds = self.shape.scalars
        return allows and not (self.shape.is_scalar and (not kinds or "string" in kinds))

    @cached_property
    def _takes(self) -> Callable[[Any], bool]:
        """The function that returns whether a value fits the schema."""
        validate = self._schemas.compile(self.schema, self._place)
        return lambda value: not validate(value, "")

    def decode(self) -> Decode | None:
        """Return the function for a value that depends only on its decoded text, or None for
        others.
        """
        if self.where == "cookie" or self._node.get("allowReserved"):
            return None
        if self._json is not None:
            return self._json.decode
        if self.media_type is not None and is_json(self.media_type):
            return _decode_json
        shape = self.shape
        if self.repeats and not shape.is_object and not is_composite(shape.items):
            return _array(shape.items, shape.scalars)
        if not shape.is_scalar or self.style.name in ("label", "matrix"):
            return None
        if shape.scalars in (frozenset(), frozenset(("string",))):
            return _last
        if shape.scalars == {"integer"}:
            return _integer
        return partial(_scalar, shape.scalars)

    def _text(self) -> Text:
        if self.where == "query" and self._node.get("allowReserved"):
            return from_reserved
        if self.where == "cookie" and self.style.name == "form":
            return from_reserved
        return TEXTS[self.where]


class _NamesOnWire:
    """The names under which the parameters of one place are sent."""

    def __init__(self, uses: Sequence[_Use], place: str) -> None:
        """Raise `DocumentError` if two parameters would read the same name."""
        self.deep = tuple(use.name + "[" for use in uses if use.style.name == "deepObject")
        takers = [use.name for use in uses if use.is_spread and use.shape.takes_others]
        if len(takers) > 1:
            raise DocumentError(
                f"{place}: {takers[0]} and {takers[1]} are exploded objects that both take every "
                "name: use `style: deepObject`"
            )
        self.taker = takers[0] if takers else None
        readers: dict[str, str] = {}
        for use in uses:
            for name in sorted(names_of(use.name, use.style, use.shape)):
                if name in readers:
                    raise DocumentError(
                        f"{place}: {readers[name]} and {use.name} both read the name {name}, "
                        "because an exploded object has the names of its properties"
                    )
                readers[name] = use.name
        self.names = frozenset(readers)

    def is_foreign(self, name: str) -> bool:
        """Return whether a name belongs to a parameter other than the one that gets all remaining
        names.
        """
        return name in self.names or is_deep(name, self.deep)


def _as_it_is(raw: RawTexts) -> RawTexts:
    return raw


def _last(values: list[str], pointer: str) -> str:
    return values[-1]


def _integer(values: list[str], pointer: str) -> int | str:
    text = values[-1]
    return int(text) if INTEGER.fullmatch(text) else text


def _scalar(kinds: Kinds, values: list[str], pointer: str) -> Any:
    return scalar(values[-1], kinds)


def _decode_json(values: list[str], pointer: str) -> Any:
    return load_json(values[-1].encode("utf-8"), pointer)


def _read_json(name: str, pointer: str, sent: RawTexts) -> Any:
    """Return the value of JSON in a cookie, in which quotation marks and commas are
    percent-encoded.
    """
    raws = sent.get(name)
    if raws is None:
        return MISSING
    return load_json(from_reserved(raws[-1], pointer).encode("utf-8"), pointer)


def _array(items: Kinds, scalars: Kinds) -> Decode:
    def decode(values: list[str], pointer: str) -> Any:
        if scalars and len(values) == 1:
            return scalar(values[0], scalars)
        return [scalar(value, items) for value in values]

    return decode


def _media_type_of(node: Mapping[str, Any], place: str) -> str | None:
    """Return the media type of a parameter with `content`, or None for a parameter with a schema.
    Raise `DocumentError` for an unsupported media type.
    """
    if "content" not in node:
        return None
    (media_type,) = node["content"]
    if not (is_json(media_type) or is_text(media_type)):
        raise DocumentError(f"{place}: content {media_type} is not served, but JSON and text are")
    return str(media_type)


def _schema_of(node: Mapping[str, Any]) -> Any:
    if "content" in node:
        (media,) = node["content"].values()
        return media.get("schema", {})
    return node.get("schema", {})
