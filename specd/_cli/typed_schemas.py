"""The schemas of a document as Python types: `TypedDict`s, and aliases of other types.

Requests and responses may have different properties (`readOnly`, `writeOnly`), so a type is for one
direction. A type is a tuple of the members of a union, each as source text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from keyword import iskeyword
from typing import Any

from specd._cli.literals import WIDTH, literal
from specd._engine.document.kinds import kinds_of_value
from specd._engine.document.schemas import Schemas
from specd._engine.openapi.naming import identifier_of
from specd._engine.openapi.structure import walk

Type = tuple[str, ...]
ANY: Type = ("Any",)
REQUEST, RESPONSE = "readOnly", "writeOnly"
"""The two directions, each named by the mark of the properties that it does not have."""
_SHARED = "#/components/schemas/"
_SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
}
_SIMPLE = frozenset((*_SCALARS.values(), "Any"))
_CHOICES = ("oneOf", "anyOf")
_UNNAMED = ("additionalProperties", "unevaluatedProperties")
_SAYING = frozenset(
    (
        *("type", "enum", "const", "properties", "patternProperties", "additionalProperties"),
        *("unevaluatedProperties", "items", "prefixItems", "allOf", "$ref", *_CHOICES),
    )
)
"""Keywords that a type depends on, without those that only require a property."""
_KINDS = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
_RESERVED = (
    *("_Body", "_Pieces", "compare_handlers", "_Reply", "_Returned", "_Status"),
    *("Any", "AsyncIterator", "Awaitable", "Context", "Iterator", "Literal", "Mapping", "Never"),
    *("NotRequired", "Protocol", "Response", "TYPE_CHECKING", "TypeAlias", "TypeVar", "TypedDict"),
    *("bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple", "NotImplemented"),
    *("NotImplementedError", "annotations"),
)
"""Names that the generated module, or a module of handlers, needs itself."""
_NAME = re.compile(r"[^\W\d]\w*")
_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
AMBIGUOUS = frozenset("lIO")
"""Names that linters reject because they look like numbers."""
MAX_LITERAL = 70
"""The maximum length of an enumeration that is written inline. A longer one gets an alias."""
MAX_CHOICES = 64
"""The maximum number of combinations of choices in one schema that get separate types."""


@dataclass
class Definition:
    """One class or alias. A class has `fields`, and an alias has the `members` of its type."""

    name: str
    members: Type = ()
    fields: Mapping[str, str] | None = None
    is_quoted: bool = False
    """Whether it refers to itself, so that its names must be quoted."""

    @property
    def uses(self) -> frozenset[str]:
        """The names in its source."""
        return names_in(self.members if self.fields is None else self.fields.values())

    @property
    def is_class(self) -> bool:
        """Whether it is written as a class, whose names are not looked up at run time."""
        names = self.fields or {}
        return (
            self.fields is not None and all(map(_is_field, names)) and not self.uses & names.keys()
        )

    @property
    def lines(self) -> list[str]:
        """The lines of its source."""
        if self.fields is None:
            return self._alias_lines()
        if self.is_class:
            fields = [f"    {name}: {text}" for name, text in self.fields.items()]
            mark = "  # noqa: E742" if self.name in AMBIGUOUS else ""
            return [f"class {self.name}(TypedDict):{mark}", *(fields or ["    pass"])]
        write = _quoted_field if self.is_quoted else str
        fields = [f"        {literal(key)}: {write(text)}," for key, text in self.fields.items()]
        head = [f"{self.name} = TypedDict(", f"    {literal(self.name)},", "    {"]
        return [*head, *fields, "    },", ")"]

    def _alias_lines(self) -> list[str]:
        start, text = f"{self.name}: TypeAlias = ", written(self.members)
        if self.is_quoted:
            return [start + literal(text)]
        if len(start + text) > WIDTH and all(map(_is_literal, self.members)):
            values = [f"    {value_of(each)}," for each in self.members]
            return [f"{start}Literal[", *values, "]"]
        return union_lines(start, _members_of(self.members))


class SchemaTypes:
    """Creates types from the schemas of one document, and collects their definitions."""

    def __init__(self, document: Mapping[str, Any], schemas: Mapping[str, Schemas]) -> None:
        """`schemas` has the schemas of each direction."""
        self._schemas = schemas
        self._components: Mapping[str, Any] = document.get("components", {}).get("schemas", {})
        self._taken = set(_RESERVED)
        self._definitions: dict[str, Definition] = {}
        self._types: dict[tuple[str, str], Type] = {}
        self._names = {name: self.unused(identifier_of(name)) for name in self._components}
        self._differs: dict[str, bool] = {}
        self._free: set[str] = set()
        """The names of schemas that have no definition yet."""
        self._unfinished: set[tuple[str, str]] = set()
        self._recursive: set[tuple[str, str]] = set()

    def unused(self, name: str) -> str:
        """Return an unused name for the module, and reserve it."""
        if name in _RESERVED:
            name += "_"
        free = name if name not in self._taken else ""
        numbered = (f"{name}{number}" for number in count(2))
        free = free or next(each for each in numbered if each not in self._taken)
        self._taken.add(free)
        return free

    def qualified(self, text: str) -> str:
        """Return the source of a type for another module, which imports `types`."""
        parts = re.split(f"({_TEXT.pattern})", text)
        parts[::2] = [
            _NAME.sub(lambda it: f"types.{it[0]}" if it[0] in self._definitions else it[0], part)
            for part in parts[::2]
        ]
        return "".join(parts)

    def add_components(self) -> None:
        """Create a type for each named schema that no operation uses."""
        reached = {reference for reference, _ in self._types}
        for name in self._components:
            if (reference := _SHARED + _escaped(name)) not in reached:
                self._named(reference, RESPONSE)

    def definitions(self) -> Iterator[Definition]:
        """Yield the definitions, each after those that it needs at import."""
        order = {name: number for number, name in enumerate(self._names.values())}
        last = len(order)
        waiting = sorted(self._definitions.values(), key=lambda it: order.get(it.name, last))
        done: set[str] = set()

        def visit(each: Definition, path: tuple[str, ...]) -> Iterator[Definition]:
            if each.name in done:
                return
            done.add(each.name)
            for name in () if each.is_class else sorted(each.uses):
                inner = self._definitions.get(name)
                if name in (*path, each.name):
                    each.is_quoted = True
                elif inner is not None:
                    yield from visit(inner, (*path, each.name))
            yield each

        for each in waiting:
            yield from visit(each, ())

    def of(self, schema: Any, hint: str, direction: str) -> Type:
        """Return the type of a schema. Inline definitions get names that begin with `hint`."""
        if schema is True or schema == {}:
            return ANY
        if not isinstance(schema, Mapping):
            return ("Never",)
        schemas = self._schemas[direction]
        beside = (_SAYING | {"required"}) & schema.keys() - {"$ref"}
        if "$ref" in schema and (schemas.is_3_0 or not beside):
            return self._named(schema["$ref"], direction)
        parts = self._parts(schema, schemas)
        is_nullable = schema.get("nullable") is True and schemas.is_3_0
        saying = [part for part in parts if _SAYING & part.keys() or "required" in part]
        if len(saying) == 1 and "$ref" in saying[0]:
            found = self._named(saying[0]["$ref"], direction)
        else:
            found = self._whole(self._resolved(parts, schemas), hint, direction)
        return joined(found, ("None",)) if is_nullable else found

    def define_alias(self, hint: str, members: Type) -> Type:
        """Return the name of a new alias of a type."""
        name = self._claim(hint)
        self._definitions[name] = Definition(name, members)
        return (name,)

    def _named(self, reference: str, direction: str) -> Type:
        key = reference, direction
        if key in self._types:
            self._recursive |= {key} & self._unfinished
            return self._types[key]
        schemas = self._schemas[direction]
        target = schemas.resolve({"$ref": reference})
        if direction == REQUEST and not self._is_different(reference):
            return self._named(reference, RESPONSE)
        name = self._name_of(reference)
        if direction == REQUEST:
            name = self.unused(f"{name}Request")
        self._types[key] = (name,)  # for a schema that refers to itself
        self._unfinished.add(key)
        self._free.add(name)
        found = self.of(target, name, direction)
        self._unfinished.discard(key)
        if name not in self._free and found != (name,):
            inner = self.unused(f"{name}Object")
            self._definitions[inner] = replace(self._definitions.pop(name), name=inner)
            found = tuple(inner if each == name else each for each in found)
            self._free.add(name)
        if name in self._free:
            self._free.discard(name)
            if len(found) == 1 and found[0] in _SIMPLE and key not in self._recursive:
                self._types[key] = found
            else:
                self._definitions[name] = Definition(name, found)
        return self._types[key]

    def _claim(self, hint: str) -> str:
        """Return the name for a new definition: the reserved name of its schema, or else an unused
        name.
        """
        if hint in self._free:
            self._free.discard(hint)
            return hint
        return self.unused(hint)

    def _name_of(self, reference: str) -> str:
        name = _unescaped(reference.removeprefix(_SHARED))
        if reference.startswith(_SHARED) and name in self._names:
            return self._names[name]
        last = re.split(r"[/#]", reference)[-1]
        return self.unused(identifier_of(camel(_unescaped(last) or "Document")))

    def _is_different(self, reference: str) -> bool:
        """Return whether a schema, or one that it refers to, has a mark of a direction."""
        schemas = self._schemas[RESPONSE]
        seen: set[str] = set()
        waiting = [reference]
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if self._differs.get(at):
                self._differs[reference] = True
                return True
            for _, part, _ in walk(schemas.resolve({"$ref": at}), "schema"):
                if not isinstance(part, Mapping):
                    continue
                if part.get(REQUEST) is True or part.get(RESPONSE) is True:
                    self._differs[reference] = True
                    return True
                if isinstance(part.get("$ref"), str):
                    waiting.append(part["$ref"])
        self._differs[reference] = False
        return False

    def _parts(self, schema: Mapping[str, Any], schemas: Schemas) -> list[Mapping[str, Any]]:
        """Return the schemas that a value must fit together: the reference, those of `allOf`, and
        the other keywords.
        """
        beside = {key: value for key, value in schema.items() if key not in ("allOf", "$ref")}
        found: list[Mapping[str, Any]] = []
        if "$ref" in schema:
            found.append({"$ref": schema["$ref"]})
            if schemas.is_3_0:
                return found
        for part in schema.get("allOf", ()):
            if isinstance(part, Mapping):
                found += self._parts(part, schemas)
        return [*found, beside]

    def _resolved(
        self, parts: Sequence[Mapping[str, Any]], schemas: Schemas
    ) -> list[Mapping[str, Any]]:
        """Return the parts, with references replaced by the parts of their targets, each once."""
        found: list[Mapping[str, Any]] = []
        followed: set[str] = set()
        waiting = [*reversed(parts)]
        while waiting:
            part = waiting.pop()
            reference = part.get("$ref")
            if reference is None:
                found.append(part)
            elif reference not in followed:
                followed.add(reference)
                target = schemas.resolve(part)
                if isinstance(target, Mapping):
                    waiting += reversed(self._parts(target, schemas))
        return found

    def _whole(
        self, parts: Sequence[Mapping[str, Any]], hint: str, direction: str, width: int = 1
    ) -> Type:
        """Return the type of values that fit all parts, which have no references."""
        schemas = self._schemas[direction]
        kinds = _common_kinds(parts)
        values = _common_values(parts)
        if values is not None:
            fitting = [it for it in values if kinds is None or kinds_of_value(it) & kinds]
            return self._enumerated(fitting, hint)
        for at, part in enumerate(parts):
            for key in _CHOICES:
                branches = [it for it in part.get(key, ()) if _says(it)]
                if not branches or len(branches) < len(part[key]):
                    continue  # a choice that only concerns required properties
                width *= len(branches)
                rest = {name: value for name, value in part.items() if name != key}
                others = [*parts[:at], rest, *parts[at + 1 :]]
                if width > MAX_CHOICES:
                    return self._whole(others, hint, direction, width // len(branches))
                return self._chosen(branches, others, schemas, hint, direction, width)
        if kinds is None:
            kinds = _kinds_by_keywords(parts)
        if kinds is None:
            return ANY
        found: Type = ()
        for kind in sorted(kinds - {"integer"} if "number" in kinds else kinds):
            if kind == "array":
                found = joined(found, self._array(parts, hint, direction))
            elif kind == "object":
                found = joined(found, self._object(parts, hint, direction))
            else:
                found = joined(found, (_SCALARS[kind],))
        return found or ("Never",)

    def _chosen(
        self,
        branches: Sequence[Any],
        others: Sequence[Mapping[str, Any]],
        schemas: Schemas,
        hint: str,
        direction: str,
        width: int,
    ) -> Type:
        found: Type = ()
        are_silent = not any(_SAYING & part.keys() or "required" in part for part in others)
        are_several = len(branches) > 1
        for number, branch in enumerate(branches, 1):
            name = f"{hint}Option{number}" if are_several else hint
            if are_silent:
                found = joined(found, self.of(branch, name, direction))
                continue
            inner = self._resolved(self._parts(branch, schemas), schemas)
            made = self._whole([*others, *inner], name, direction, width)
            found = joined(found, () if made == ("Never",) else made)
        return found or ("Never",)

    def _enumerated(self, values: Sequence[Any], hint: str) -> Type:
        found: list[str] = []
        for value in values:
            if value is None:
                found.append("None")
            elif isinstance(value, str | bool | int):
                found.append(f"Literal[{literal(value)}]")
            elif isinstance(value, float):
                found.append("float")
            else:
                found.append("list[Any]" if isinstance(value, list) else "dict[str, Any]")
        literals = tuple(dict.fromkeys(it for it in found if it.startswith("Literal[")))
        others = tuple(dict.fromkeys(it for it in found if it not in literals))
        if len(written(literals)) > MAX_LITERAL:
            literals = self.define_alias(f"{hint}Value" if others else hint, literals)
        return joined(literals, others) or ("Never",)

    def _array(self, parts: Sequence[Mapping[str, Any]], hint: str, direction: str) -> Type:
        firsts = [it for part in parts for it in part.get("prefixItems", ())]
        rest = next((part["items"] for part in parts if "items" in part), None)
        found: Type = ()
        for number, item in enumerate(firsts, 1):
            found = joined(found, self.of(item, f"{hint}Item{number}", direction))
        if rest is None and not (firsts and _are_closed(parts)):
            rest = True
        if rest is not None and rest is not False:
            found = joined(found, self.of(rest, f"{hint}Item", direction))
        return (f"list[{written(found or ('Never',))}]",)

    def _object(self, parts: Sequence[Mapping[str, Any]], hint: str, direction: str) -> Type:
        schemas = self._schemas[direction]
        properties: dict[str, list[Any]] = {}
        for part in parts:
            for name, item in (part.get("properties") or {}).items():
                properties.setdefault(str(name), []).append(item)
        for part in parts:
            for inner in _conditional(part):
                for name, item in (inner.get("properties") or {}).items():
                    properties.setdefault(str(name), [item])
        required = {str(name) for part in parts for name in part.get("required", ())}
        hidden = {
            name
            for name, items in properties.items()
            if any(schemas.marks.is_marked(it) for it in items) or any(it is False for it in items)
        }
        for part in parts:
            hidden |= schemas.marks.hidden(part)
        for name in required - properties.keys():
            properties[name] = [True]
        shown = {name: items for name, items in properties.items() if name not in hidden}
        if not shown:
            return self._mapping(parts, hint, direction, is_empty=bool(properties))
        fields = {}
        for name, items in shown.items():
            item = items[0] if len(items) == 1 else {"allOf": items}
            inner_hint = hint + camel(name)
            fields[name] = name in required, self.of(item, inner_hint, direction)
        others = self._unnamed(parts, hint, direction)
        if others and others != ANY:  # a TypedDict would have the named properties alone
            types = others
            for _, members in fields.values():
                types = joined(types, members)
            return (f"dict[str, {written(types)}]",)
        return self._define_class(hint, fields)

    def _mapping(
        self, parts: Sequence[Mapping[str, Any]], hint: str, direction: str, *, is_empty: bool
    ) -> Type:
        found = self._unnamed(parts, hint, direction)
        has_rule = any(key in part for part in parts for key in _UNNAMED)
        if not found and (has_rule or is_empty):
            return self._define_class(hint, {})
        return (f"dict[str, {written(found or ANY)}]",)

    def _unnamed(self, parts: Sequence[Mapping[str, Any]], hint: str, direction: str) -> Type:
        """Return the type of the properties that the schemas allow without naming them. It is empty
        if they have no rule for such properties.
        """
        found: Type = ()
        for part in parts:
            for name, item in (part.get("patternProperties") or {}).items():
                found = joined(found, self.of(item, hint + camel(name), direction))
            for key in _UNNAMED:
                if part.get(key, False) is not False:
                    found = joined(found, self.of(part[key], f"{hint}Value", direction))
        return found

    def _define_class(self, hint: str, fields: Mapping[str, tuple[bool, Type]]) -> Type:
        name = self._claim(hint)
        types = {}
        for key, (is_required, members) in fields.items():
            text = written(members)
            if len(text) + len(key) + 26 > WIDTH and len(members) + text.count("[") > 1:
                (text,) = self.define_alias(name + camel(key), members)
            types[key] = text if is_required else f"NotRequired[{text}]"
        self._definitions[name] = Definition(name, fields=types)
        return (name,)


def camel(text: str) -> str:
    """Return a name as a part of a class name: `created_at` becomes `CreatedAt`."""
    words = re.split(r"[\W_]+", unicodedata.normalize("NFKC", text))
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return "".join(each for each in name if f"a{each}".isidentifier())


def written(members: Type) -> str:
    """Return the source of a type, with its literals combined and None last."""
    return " | ".join(_members_of(members))


def joined(one: Type, other: Type) -> Type:
    """Return the union of two types."""
    both = tuple(dict.fromkeys((*one, *other)))
    if "Any" in both:
        return ANY
    if "float" in both:
        both = tuple(each for each in both if each != "int")
    if "str" in both:
        both = tuple(each for each in both if each[:9] not in ('Literal["', "Literal['"))
    return tuple(each for each in both if each != "Never" or len(both) == 1)


def names_in(texts: Any) -> frozenset[str]:
    """Return the names in the source of types."""
    return frozenset(name for text in texts for name in _NAME.findall(_TEXT.sub("", text)))


def union_lines(start: str, members: Sequence[str], indent: str = "") -> list[str]:
    """Return a definition of a union, in one line or with a line for each member."""
    one = f"{indent}{start}{' | '.join(members)}"
    if len(one) <= WIDTH or len(members) == 1:
        return [one]
    whole = f"{indent}    {' | '.join(members)}"
    if len(whole) <= WIDTH:
        return [f"{indent}{start}(", whole, f"{indent})"]
    first, *others = members
    inner = [f"{indent}    {first}", *(f"{indent}    | {each}" for each in others)]
    return [f"{indent}{start}(", *inner, f"{indent})"]


def _members_of(members: Type) -> list[str]:
    """Return the source of the members of a union."""
    literals = [each for each in members if _is_literal(each)]
    found = [each for each in members if each not in literals and each != "None"]
    if literals:
        found.insert(0, f"Literal[{', '.join(map(value_of, literals))}]")
    return [*found, *(["None"] if "None" in members else [])]


def _is_literal(member: str) -> bool:
    return member.startswith("Literal[")


def value_of(member: str) -> str:
    """Return the source of a literal's value."""
    return member.removeprefix("Literal[")[:-1]


def _quoted_field(text: str) -> str:
    if text.startswith("NotRequired["):
        return f"NotRequired[{literal(text[len('NotRequired[') : -1])}]"
    return literal(text)


def _is_field(name: str) -> bool:
    """Return whether a property can be written as a variable of a class."""
    is_same = unicodedata.normalize("NFKC", name) == name  # Python normalizes names
    return is_same and name.isidentifier() and not iskeyword(name) and name[:2] != "__"


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def _says(branch: Any) -> bool:
    return isinstance(branch, Mapping) and bool(_SAYING & branch.keys())


def _are_closed(parts: Sequence[Mapping[str, Any]]) -> bool:
    return any(part.get(key) is False for part in parts for key in ("items", "unevaluatedItems"))


def _conditional(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that a value may also have to fit, depending on its properties."""
    dependent = part.get("dependentSchemas") or {}
    for each in (part.get("then"), part.get("else"), *dependent.values()):
        if isinstance(each, Mapping):
            yield each


def _common_kinds(parts: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    """Return the types that all parts allow, or None if none names a type."""
    found: frozenset[str] | None = None
    for part in parts:
        if "type" not in part:
            continue
        named = part["type"]
        kinds = frozenset((named,) if isinstance(named, str) else named) & _KINDS
        kinds |= {"null"} if part.get("nullable") is True else frozenset()
        if found is not None:
            wide = [it | {"integer"} if "number" in it else it for it in (found, kinds)]
            kinds = wide[0] & wide[1]
        found = kinds
    return found


def _common_values(parts: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """Return the values that all enumerations have, or None if there is none."""
    found: list[Any] | None = None
    for part in parts:
        values = [part["const"]] if "const" in part else part.get("enum")
        if values is None:
            continue
        if part.get("nullable") is True and None not in values:
            values = [*values, None]
        marked = [(type(it), it) for it in values]
        found = values if found is None else [it for it in found if (type(it), it) in marked]
    return found


def _kinds_by_keywords(parts: Sequence[Mapping[str, Any]]) -> frozenset[str] | None:
    keys = {key for part in parts for key in part}
    found = set()
    if keys & {"properties", "patternProperties", "additionalProperties", "required"}:
        found.add("object")
    if keys & {"items", "prefixItems"}:
        found.add("array")
    return frozenset(found) or None
