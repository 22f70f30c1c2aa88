"""The rules of OpenAPI for a document beyond its structure, and advice about parts that are
certainly unintended.

Each rule yields the mistakes that it finds. It accepts any content and ignores parts with a wrong
structure. `MUST` are requirements of the specification. A document that violates them is not
served. `ADVICE` is about parts that have no effect, or a different effect than they seem to have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from typing import Any
from warnings import catch_warnings

import jsonschema_rs

from specd._engine.errors import DocumentError
from specd._engine.openapi.dialects import with_dialects
from specd._engine.openapi.naming import handler_of, handlers_of
from specd._engine.openapi.patterns import OPTIONS, in_unicode_mode, require_shallow, smaller
from specd._engine.openapi.shapes import a, known_words, version_of, vocabulary
from specd._engine.openapi.structure import METHODS, OBJECTS, SECTIONS, Steps, steps_of, walk
from specd._engine.openapi.wording import NOTHING, did_you_mean, nearest, points_nowhere, reach

Node = Mapping[str, Any]
Faults = Iterator[DocumentError]
_TEMPLATE = re.compile(r"{([^{}]*)}")
_BOUNDS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
_BOUNDED = frozenset(low for low, _ in _BOUNDS)
_KEYWORDS = "discriminator", "xml", "externalDocs", "example", "definitions", "$recursiveRef"
"""The keywords of schemas in OpenAPI 3.1 in addition to those of JSON Schema 2020-12."""
_FORMATS = (
    *("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri"),
    *("uri-reference", "uri-template", "json-pointer", "regex", "int32", "int64", "float"),
    *("double", "byte", "binary", "password"),
    *(f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)),
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header (RFC 9110, section 5.6.2)."""
_TOKEN_CHARACTERS = "letters of ASCII, digits and !#$%&'*+-.^_`|~"
_IGNORED_HEADERS = ("accept", "content-type", "authorization")
"""Headers that are not described by parameters."""
_HARMLESS = ("$ref", "description", "summary", "title", "deprecated", "example")
"""Keys next to a `$ref` in OpenAPI 3.0 that are ignored, which does no harm."""
MAX_WAY = 30
"""The maximum length of a chain of references."""


class Checked:
    """A document for the checks: its content, its objects, and its version of OpenAPI."""

    def __init__(self, content: Node) -> None:
        self.content = content
        self.version = version_of(content)
        self.objects = list(walk(content))
        self._of: dict[str, list[tuple[Steps, Node]]] = {}
        for at, node, kind in self.objects:
            if isinstance(node, Mapping):
                self._of.setdefault(kind, []).append((at, node))

    def of(self, kind: str) -> list[tuple[Steps, Node]]:
        """Return the objects of a kind, with the steps to each."""
        return self._of.get(kind, [])

    def operations(self) -> Iterator[tuple[Steps, Node, Steps, Node]]:
        """Yield the operations of all paths: the steps and the object of the operation, and those
        of its path.
        """
        for path, written in self.mapping("paths").items():
            item = self.resolve(written)
            for method in item:
                if method in METHODS and isinstance(item[method], Mapping):
                    yield ("paths", path, method), item[method], ("paths", path), item

    def mapping(self, *steps: str) -> Node:
        """Return the object at a place in the document, or `{}` if there is none."""
        return _mapping(reach(self.content, steps))

    def parameters(self, node: Node, at: Steps) -> list[tuple[Steps, Node]]:
        """Return the parameters of a path or an operation, each with its place in the list."""
        items = _list(node.get("parameters"))
        return [((*at, "parameters", i), self.resolve(item)) for i, item in enumerate(items)]

    def resolve(self, node: Any) -> Node:
        """Return the target of a local reference, or else the object itself. Return `{}` if it is
        not an object.
        """
        reference = node.get("$ref") if isinstance(node, Mapping) else None
        if isinstance(reference, str):
            node = reach(self.content, self.way(reference)[-1])
        return {} if isinstance(_mapping(node).get("$ref"), str) else _mapping(node)

    def way(self, reference: str) -> list[Steps]:
        """Return the steps to each object in the chain of a local reference, up to an object that
        is not a reference or is already in the chain.
        """
        passed: list[Steps] = []
        following: Any = reference
        while (
            isinstance(following, str)
            and len(passed) < MAX_WAY
            and (steps := steps_of(following)) not in passed
        ):
            passed.append(steps)
            following = _mapping(reach(self.content, steps)).get("$ref")
        return passed

    def reach(self, reference: str) -> Any:
        """Return the target of a local reference, or `NOTHING`."""
        if reference.startswith("#/") or reference in ("", "#"):
            return reach(self.content, steps_of(reference))
        return self.content if reference[1:] in self._anchors else NOTHING

    def fault_of(self, reference: str) -> str | None:
        """Return the message about a local reference without a target, or None."""
        if not reference.startswith("#") or self.reach(reference) is not NOTHING:
            return None
        return points_nowhere(reference, self.content, reference)

    @cached_property
    def _anchors(self) -> frozenset[Any]:
        return frozenset(
            node[key]
            for _, node in self.of("schema")
            for key in ("$anchor", "$dynamicAnchor")
            if isinstance(node.get(key), str)
        )

    @cached_property
    def _kinds(self) -> dict[tuple[str, ...], str]:
        return {tuple(map(str, at)): kind for at, _, kind in self.objects}

    def kind_of(self, reference: str) -> str | None:
        """Return the kind of the target of a local reference, or None if it is unknown."""
        if not reference.startswith("#/"):
            return None
        steps = steps_of(reference)
        if len(steps) == 3 and steps[0] == "components":
            return OBJECTS["components"].get(steps[1], "")[1:-1] or None
        return self._kinds.get(steps)

    @cached_property
    def operation_ids(self) -> dict[str, Steps]:
        """The operationIds, each with the first operation that has it."""
        found: dict[str, Steps] = {}
        for at, operation in self.of("operation"):
            found.setdefault(str(operation.get("operationId")), at)
        return found


def references(checked: Checked) -> Faults:
    """A reference points to an object of the required kind."""
    fault_of, way = cache(partial(_fault_of, checked)), cache(checked.way)
    with_ids = [at for at, schema in checked.of("schema") if "$id" in schema]
    for at, node, kind in checked.objects:
        reference = node.get("$ref") if isinstance(node, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            continue
        if any(at[: len(base)] == base for base in with_ids):
            continue  # it is relative to that `$id`
        fault = fault_of(reference, kind)
        if fault is not None:
            yield DocumentError(fault, (*at, "$ref"))
        elif tuple(map(str, at)) in way(reference):
            yield DocumentError(f'"{reference}" leads back to itself', (*at, "$ref"))
        elif len(way(reference)) == MAX_WAY:
            words = f'"{reference}" leads through {MAX_WAY} references: point to what is meant'
            yield DocumentError(words, (*at, "$ref"))


def _fault_of(checked: Checked, reference: str, kind: str) -> str | None:
    """Return the fault of a reference that replaces an object of a kind, or None."""
    nowhere = checked.fault_of(reference)
    if nowhere is not None:
        return nowhere
    other = checked.kind_of(reference)
    if other is None or other == kind:
        return None
    section = SECTIONS.get(kind, "")
    right = nearest(reference.rpartition("/")[2], checked.mapping("components", section))
    hint = f'; did you mean "#/components/{section}/{right}"?' if right else ""
    return f'"{reference}" is {a(other)}, not {a(kind)}{hint}'


def _unknown(fault: str, name: Any, known: Iterable[str], at: Steps) -> DocumentError:
    """Return the error for an unknown name, with the nearest known name."""
    return DocumentError(f"{fault}{did_you_mean(name, known)}", at)


def operation_ids(checked: Checked) -> Faults:
    """Each operation has a different operationId."""
    for at, operation in checked.of("operation"):
        name = operation.get("operationId")
        if isinstance(name, str) and checked.operation_ids[name] != at:
            *_, path, method = checked.operation_ids[name]
            yield DocumentError(
                f'"{name}" is the operationId of {str(method).upper()} {path} too: write another',
                at=(*at, "operationId"),
            )


def shapes_of_paths(checked: Checked) -> Faults:
    """No two paths match the same requests."""
    known: dict[Any, str] = {}
    for path, written in checked.mapping("paths").items():
        if path.startswith("x-"):
            continue
        at = ("paths", path)
        if path.count("{") != path.count("}") or "{" in _TEMPLATE.sub("", path):
            yield DocumentError(f'"{path}" has a brace too many or too few', at=at)
        item = checked.resolve(written)
        shared = _integers(checked, item, {})
        of_methods = [
            _integers(checked, item[method], shared)
            for method in METHODS
            if isinstance(item.get(method), Mapping)
        ]
        integers = {
            name
            for name in _TEMPLATE.findall(path)
            if all(each.get(name, False) for each in of_methods or [shared])
        }
        kinds = tuple(name in integers for name in _TEMPLATE.findall(path))
        first = known.setdefault((_TEMPLATE.sub("{}", path), kinds), path)
        if first != path:
            yield DocumentError(
                f'has the same shape as "{first}": no request could say which is meant', at=at
            )


def _integers(checked: Checked, node: Node, shared: dict[str, bool]) -> dict[str, bool]:
    """Return name -> whether a path parameter is an integer, for a method or for all methods."""
    own = {
        str(parameter.get("name")): checked.resolve(parameter.get("schema")).get("type")
        == "integer"
        for _, parameter in checked.parameters(node, ())
        if parameter.get("in") == "path"
    }
    return {**shared, **own}


def path_parameters(checked: Checked) -> Faults:
    """The parameters in a path's template are the declared path parameters."""
    for at, operation, path_at, item in checked.operations():
        path = str(path_at[-1])
        template = _TEMPLATE.findall(path)
        parameters = [*checked.parameters(item, path_at), *checked.parameters(operation, at)]
        declared = {str(p.get("name")): place for place, p in parameters if p.get("in") == "path"}
        strange = [name for name in declared if name not in template]
        for name in strange:
            missing = [each for each in template if each not in declared]
            right = did_you_mean(name, missing) or ": write {" + name + "} there, or remove it"
            yield DocumentError(f'"{name}" is not in the path "{path}"{right}', at=declared[name])
        for name in dict.fromkeys(template):
            if name not in declared and nearest(name, strange) is None:
                yield DocumentError(
                    f'the path has {{{name}}}, but no parameter "{name}" is declared: write '
                    f"`{{name: {name}, in: path, required: true, schema: ...}}`",
                    at=at,
                )


def repeated_parameters(checked: Checked) -> Faults:
    """No list contains a parameter twice."""
    for kind in ("pathItem", "operation"):
        for at, node in checked.of(kind):
            known: set[tuple[str, str]] = set()
            for place, parameter in checked.parameters(node, at):
                where, name = str(parameter.get("in")), str(parameter.get("name"))
                if where == "header":
                    name = name.lower()
                if (where, name) in known and parameter:
                    yield DocumentError(
                        f'the {where} parameter "{parameter.get("name")}" is there already: '
                        "remove one of them",
                        at=place,
                    )
                known.add((where, name))


def security(checked: Checked) -> Faults:
    """A requirement names existing security schemes."""
    schemes = checked.mapping("components", "securitySchemes")
    for at, name, _ in _requirements(checked):
        if name not in schemes and not (checked.version == "3.2" and "/" in name):
            right = did_you_mean(name, schemes)
            yield DocumentError(
                f'there is no security scheme "{name}"'
                + (right or ": write it into components/securitySchemes"),
                at=at,
            )


def repeated_tags(checked: Checked) -> Faults:
    """Each tag is described once."""
    known: set[str] = set()
    for number, name in _tags(checked):
        if name in known:
            yield DocumentError(f'the tag "{name}" is there already', at=("tags", number))
        known.add(name)


def servers(checked: Checked) -> Faults:
    """The default of a server's variable is one of its allowed values."""
    for at, server in _servers(checked):
        for name, variable in _mapping(server.get("variables")).items():
            variable = _mapping(variable)
            options, default = variable.get("enum"), variable.get("default")
            if isinstance(options, list) and options and default not in options:
                fault = f'"{default}" is none of its values'
                place = (*at, "variables", name, "default")
                yield _unknown(fault, default, map(str, options), place)


def patterns(checked: Checked) -> Faults:
    """A pattern is a valid regular expression."""
    for at, schema in checked.of("schema"):
        names = _mapping(schema.get("patternProperties"))
        written = [((*at, "patternProperties", name), name) for name in names]
        if isinstance(schema.get("pattern"), str):
            written.append(((*at, "pattern"), schema["pattern"]))
        for place, pattern in written:
            if not _is_pattern(pattern, checked.version):
                fault = f'"{pattern[:200]}" is {_why(pattern, checked.version)}'
                yield DocumentError(fault, place)


@cache
def _is_pattern(pattern: str, version: str) -> bool:
    dialect = (
        jsonschema_rs.Draft4Validator if version == "3.0" else jsonschema_rs.Draft202012Validator
    )
    try:
        dialect({"pattern": in_unicode_mode(pattern)}, **OPTIONS)
    except ValueError:
        return False
    return True


def _why(pattern: str, version: str) -> str:
    if _is_pattern(smaller(pattern), version):
        return "larger than this server compiles"
    with catch_warnings(action="ignore"):
        try:
            require_shallow(pattern)
            named = _BACK.sub(r"(?P=\1)", _GROUP.sub("(?P<", pattern))
            re.compile(named.replace("[^]", "."))
        except re.error as error:
            place = "" if error.pos is None else f" at character {error.pos + 1}"
            return f"no regular expression: {error.msg}{place}"
        except RecursionError:
            return "no regular expression: it is nested too deep"
    return "no regular expression of ECMA-262 that this server compiles"


_GROUP = re.compile(r"\(\?<(?![=!])")
_BACK = re.compile(r"\\k<(\w+)>")
"""The start of a named group, and a reference to one, whose syntax is different in Python."""


def bounds(checked: Checked) -> Faults:
    """A lower bound is not above the upper one."""
    for at, schema in checked.of("schema"):
        if _BOUNDED.isdisjoint(schema):
            continue
        for low, high in _BOUNDS:
            least, most = _number(schema.get(low)), _number(schema.get(high))
            if least is not None and most is not None and least > most:
                yield DocumentError(
                    f"{low} {least} is above {high} {most}, so nothing fits", at=(*at, low)
                )


def discriminators(checked: Checked) -> Faults:
    """A discriminator's mapping refers to existing schemas."""
    schemas = checked.mapping("components", "schemas")
    for at, schema in checked.of("schema"):
        mapping = _mapping(_mapping(schema.get("discriminator")).get("mapping"))
        for name, target in mapping.items():
            place = (*at, "discriminator", "mapping", name)
            if not isinstance(target, str):
                continue
            nowhere = checked.fault_of(target)
            if nowhere is not None:
                yield DocumentError(nowhere, place)
            elif target not in schemas and not re.search(r"[./:]", target):
                yield _unknown(f'there is no schema "{target}"', target, schemas, place)


def links(checked: Checked) -> Faults:
    """A link refers to an operation of the document."""
    for at, link in checked.of("link"):
        name, reference = link.get("operationId"), link.get("operationRef")
        if isinstance(name, str) and name not in checked.operation_ids:
            fault = f'there is no operation "{name}"'
            yield _unknown(fault, name, checked.operation_ids, (*at, "operationId"))
        nowhere = checked.fault_of(reference) if isinstance(reference, str) else None
        if nowhere is not None:
            yield DocumentError(nowhere, (*at, "operationRef"))


def answers(checked: Checked) -> Faults:
    """An operation has responses, although OpenAPI 3.1 does not require them, and one of them is
    the response to a successful request.
    """
    for at, operation, _, _ in checked.operations():
        responses = operation.get("responses")
        if "responses" not in operation and checked.version != "3.0":
            yield DocumentError('an operation needs "responses"', at=at)
        statuses = [str(key) for key in _mapping(responses) if not str(key).startswith("x-")]
        if statuses and not any(key == "default" or key[:1] in ("2", "3") for key in statuses):
            yield DocumentError(
                "only errors are documented, so nothing that the handler returns is allowed: add "
                'the response to a successful request, such as "200"',
                at=(*at, "responses"),
            )


def keywords(checked: Checked) -> Faults:
    """A schema of OpenAPI 3.1 has no keyword of 3.0, and no misspelled keyword."""
    if checked.version == "3.0":
        return
    for at, schema, kind, dialect in with_dialects(checked.content, checked.objects):
        if kind != "schema" or not isinstance(schema, Mapping) or not dialect:
            continue
        known = _known(dialect)
        for key in schema:
            if key in known or key.startswith("x-"):
                continue
            if key == "nullable":
                named = schema.get("type")
                example = named if isinstance(named, str) else "string"
                yield DocumentError(
                    f'"nullable" is of OpenAPI 3.0 and does nothing here: write '
                    f'`type: [{example}, "null"]`',
                    at=(*at, key),
                )
            elif nearest(key, known, very=True):
                yield _unknown(f'"{key}" is no keyword of a schema', key, known, (*at, key))


@cache
def _known(dialect: str) -> frozenset[str]:
    rules = vocabulary(dialect)
    return known_words(rules, rules).union(_KEYWORDS)


def beside_references(checked: Checked) -> Faults:
    """There are no relevant keys next to a reference in OpenAPI 3.0, because they are ignored."""
    if checked.version != "3.0":
        return
    for at, schema in checked.of("schema"):
        if "$ref" in schema:
            for key in schema:
                if key not in _HARMLESS and not key.startswith("x-"):
                    yield DocumentError(
                        f'"{key}" beside "$ref" is ignored in OpenAPI 3.0: write '
                        "`allOf: [{$ref: ...}]` instead of the reference",
                        at=(*at, key),
                    )


def words_of_schemas(checked: Checked) -> Faults:
    """The keywords of a schema are meaningful."""
    for at, schema in checked.of("schema"):
        kind = schema.get("type")
        if kind == "array" and checked.version == "3.0" and "items" not in schema:
            yield DocumentError('a list needs "items": the schema of its items', at=at)
        if schema.get("readOnly") is True and schema.get("writeOnly") is True:
            yield DocumentError('"readOnly" and "writeOnly" exclude each other', at=at)
        word = schema.get("format")
        if isinstance(word, str) and word not in _FORMATS and nearest(word, _FORMATS, very=True):
            yield _unknown(f'"{word}" is no known format', word, _FORMATS, (*at, "format"))
        properties, needed = schema.get("properties"), schema.get("required")
        if isinstance(properties, Mapping) and isinstance(needed, list):
            for number, name in enumerate(needed):
                if str(name) not in properties and nearest(name, properties, very=True):
                    fault = f'"{name}" is none of the properties'
                    yield _unknown(fault, name, properties, (*at, "required", number))


def nullable_choices(checked: Checked) -> Faults:
    """A nullable schema of OpenAPI 3.0 that lists its values includes null."""
    if checked.version != "3.0":
        return
    for at, schema in checked.of("schema"):
        options = schema.get("enum")
        if schema.get("nullable") is True and isinstance(options, list) and None not in options:
            yield DocumentError(
                "null is let in here, because the schema is nullable, but other tools go by the "
                "enum: add null to it",
                at=(*at, "enum"),
            )


def unserved_servers(checked: Checked) -> Faults:
    """All paths are below the servers of the document, because those of a path or an operation are
    not served. Each address is reported once.
    """
    places: dict[str, list[Steps]] = {}
    for at, server in _servers(checked):
        if at[:-2]:
            places.setdefault(str(server.get("url")), []).append(at)
    for url, found in places.items():
        elsewhere = f" (so {len(found) - 1} more times)" if len(found) > 1 else ""
        yield DocumentError(
            f'"{url}" is not served: this is served below the servers of the document, and '
            f"clients are sent elsewhere{elsewhere}",
            at=found[0],
        )


def functions(checked: Checked) -> Faults:
    """No two operations have names for the same function, because one would get a number."""
    operations = [(str(path[-1]), str(at[-1]), op) for at, op, path, _ in checked.operations()]
    if not all(isinstance(op.get("tags", []), list) for _, _, op in operations):
        return
    first: dict[str, str] = {}
    for (path, method), name in handlers_of("handlers", operations).items():
        operation = checked.resolve(checked.mapping("paths").get(path))[method]
        plain = handler_of("handlers", path, method, operation)
        other = first.setdefault(str(plain), f"{method.upper()} {path}")
        if plain != name and "operationId" in operation:
            yield DocumentError(
                f'the function "{plain.function}" is that of {other}, so this operation has '
                f'"{name.function}": name it otherwise',
                at=("paths", path, method, "operationId"),
            )


def tags(checked: Checked) -> Faults:
    """The tag of an operation is not a misspelled described tag."""
    described = {name for _, name in _tags(checked)}
    for at, operation in checked.of("operation"):
        for number, name in enumerate(_list(operation.get("tags"))):
            if str(name) not in described and nearest(name, described, very=True):
                fault = f'the tag "{name}" is not described'
                yield _unknown(fault, name, described, (*at, "tags", number))


def scopes(checked: Checked) -> Faults:
    """A requirement names scopes of its scheme."""
    for at, name, needed in _requirements(checked):
        scheme = checked.resolve(checked.mapping("components", "securitySchemes").get(name))
        if scheme.get("type") != "oauth2":
            continue
        flows = _mapping(scheme.get("flows")).values()
        known = {scope for flow in flows for scope in _mapping(_mapping(flow).get("scopes"))}
        for number, scope in enumerate(needed):
            if str(scope) not in known:
                yield _unknown(f'"{name}" has no scope "{scope}"', scope, known, (*at, number))


def addresses(checked: Checked) -> Faults:
    """The variables of a server's address are described."""
    for at, server in _servers(checked):
        known = _mapping(server.get("variables"))
        for name in _TEMPLATE.findall(str(server.get("url"))):
            if name not in known:
                fault = f'the address has {{{name}}}, which "variables" does not describe'
                yield _unknown(fault, name, known, (*at, "url"))


def media_types(checked: Checked) -> Faults:
    """A media type has a slash."""
    for at, _ in checked.of("media"):
        if at[-2:-1] == ("content",) and "/" not in str(at[-1]):
            yield DocumentError(
                f'"{at[-1]}" is no media type: write it like "application/json"', at=at
            )


def headers(checked: Checked) -> Faults:
    """No parameter describes a header that is described elsewhere, or that has an invalid name."""
    for at, parameter in checked.of("parameter"):
        name = str(parameter.get("name"))
        if parameter.get("in") == "header" and name.lower() in _IGNORED_HEADERS:
            yield DocumentError(
                f'a parameter "{name}" is ignored: media types and security schemes describe it',
                at=at,
            )
        elif parameter.get("in") == "header" and name and not _TOKEN.fullmatch(name):
            yield DocumentError(
                f'no header can have the name "{name}": it has {_TOKEN_CHARACTERS} alone',
                at=(*at, "name"),
            )


MUST: tuple[Callable[[Checked], Faults], ...] = (
    *(references, operation_ids, shapes_of_paths, path_parameters, repeated_parameters, security),
    *(repeated_tags, servers, patterns, bounds, discriminators, links),
)
ADVICE: tuple[Callable[[Checked], Faults], ...] = (
    *(answers, keywords, beside_references, words_of_schemas, functions, tags, scopes),
    *(nullable_choices, unserved_servers),
    *(addresses, media_types, headers),
)


def find_faults(checked: Checked, rules: Iterable[Callable[[Checked], Faults]]) -> Faults:
    """Yield the mistakes that the rules find."""
    for rule in rules:
        yield from rule(checked)


def _mapping(node: Any) -> Node:
    return node if isinstance(node, Mapping) else {}


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tags(checked: Checked) -> Iterator[tuple[int, str]]:
    for number, tag in enumerate(_list(checked.content.get("tags"))):
        if isinstance(_mapping(tag).get("name"), str):
            yield number, tag["name"]


def _servers(checked: Checked) -> Iterator[tuple[Steps, Node]]:
    for at, node in [((), checked.content), *checked.of("pathItem"), *checked.of("operation")]:
        for number, server in enumerate(_list(node.get("servers"))):
            if isinstance(server, Mapping):
                yield (*at, "servers", number), server


def _requirements(checked: Checked) -> Iterator[tuple[Steps, str, list[Any]]]:
    """Yield the required security schemes with their places and scopes."""
    for at, node in [((), checked.content), *checked.of("operation")]:
        for number, requirement in enumerate(_list(node.get("security"))):
            for name, needed in _mapping(requirement).items():
                yield (*at, "security", number, name), name, _list(needed)
