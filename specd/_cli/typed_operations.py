"""The Python types of handlers' arguments and return values, and the module with all types of a
service.
"""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from typing import Any

from specd._cli.literals import WIDTH, docstring
from specd._cli.typed_schemas import (
    AMBIGUOUS,
    ANY,
    REQUEST,
    RESPONSE,
    SchemaTypes,
    Type,
    camel,
    joined,
    names_in,
    union_lines,
    value_of,
    written,
)
from specd._engine.document.bodies import Body
from specd._engine.document.kinds import COMPOSITE, kinds_of, properties_of
from specd._engine.document.media import FORMS, essence, family_of, is_json, is_range, is_sequence
from specd._engine.document.operation import Operation
from specd._engine.document.parameters import Parameter
from specd._engine.document.schemas import Schemas
from specd._engine.errors import DocumentError
from specd._engine.openapi.naming import HandlerName, identifier_of
from specd._engine.openapi.structure import CONTENT_SCHEMA, OBJECTS, walk
from specd._engine.openapi.union import Document

FORMAT = 2
"""The version of the generated source. A module of another version is stale."""
_HEAD = "# Written by `specd types`, not by hand. "
_WORDS = frozenset(
    ("description", "summary", "externalDocs", "example", "examples", "title", "info", "servers")
)
"""Keys that no type depends on."""
_IMPORTS = {
    "collections.abc": frozenset(("AsyncIterator", "Awaitable", "Iterator", "Mapping")),
    "typing": frozenset(
        (
            *("Any", "Literal", "Never", "NotRequired", "Protocol", "TYPE_CHECKING", "TypeAlias"),
            *("TypeVar", "TypedDict"),
        )
    ),
}
_MARKED = frozenset(f"{name}:" for name in AMBIGUOUS)
MAX_BODY = 50
"""The maximum length of the type of a response body. A longer type gets an alias."""


@dataclass(frozen=True)
class TypedOperation:
    """The types of one operation."""

    operation: Operation
    raw: Mapping[str, Any]
    handler: HandlerName
    types: SchemaTypes
    schemas: Schemas
    """The schemas of requests."""

    @property
    def name(self) -> str:
        """The prefix of the names of its types."""
        return identifier_of(camel(self.handler.function))

    @cached_property
    def protocol(self) -> str:
        """The name of the protocol that its handler must fit."""
        return self.types.unused(f"_{self.name}")

    @cached_property
    def _reply_name(self) -> str:
        return self.types.unused(f"_{self.name}Reply")

    @cached_property
    def arguments(self) -> dict[str, Type]:
        """Argument of its handler -> type, in the order of the document."""
        found = {}
        declared = {(each.where, each.name): each for each in self.operation.parameters}
        for node in self.raw.get("parameters", ()):
            parameter = self.schemas.resolve(node)
            compiled = declared.get((parameter["in"], parameter["name"]))
            if compiled is not None:
                found[compiled.argument] = self._parameter(parameter, compiled)
        if self.operation.body is not None:
            found |= self._body(self.operation.body)
        return found

    def _parameter(self, node: Mapping[str, Any], compiled: Parameter) -> Type:
        hint = self.name + camel(node["name"])
        schema = node.get("schema", {})
        is_text = True
        if "content" in node:
            ((media_type, media),) = node["content"].items()
            schema = self.schemas.resolve(media).get("schema", {})
            is_text = not is_json(media_type)
        resolved = self.schemas.resolve(schema) if isinstance(schema, Mapping) else {}
        if CONTENT_SCHEMA in resolved:
            schema, is_text = resolved[CONTENT_SCHEMA], False
        found = self.types.of(schema, hint, REQUEST)
        if is_text:
            found = tuple(each for each in found if each != "None") or found
            if found == ANY and compiled.where != "querystring":
                found = ("str",)
        return joined(found, ("None",)) if compiled.may_be_empty else found

    def _body(self, body: Body) -> dict[str, Type]:
        node = self.schemas.resolve(self.raw.get("requestBody", {"content": {}}))
        content = {key: self.schemas.resolve(media) for key, media in node["content"].items()}
        if body.form is None:
            found: Type = ()
            for media_type, media in content.items():
                found = joined(found, self._whole_body(media_type, media))
            return {"body": found or ANY}
        types = {}
        are_texts = all(essence(key) in FORMS for key in content)
        properties = properties_of(body.form.schema, self.schemas)
        for name, form_field in body.form.fields.items():
            schema = properties[name]
            resolved = self.schemas.resolve(schema) if isinstance(schema, Mapping) else {}
            is_json_text = CONTENT_SCHEMA in resolved
            schema = resolved[CONTENT_SCHEMA] if is_json_text else schema
            made = self.types.of(schema, self.name + camel(name), REQUEST)
            if form_field.binary:
                made = ANY  # bytes or a `File`, depending on the wiring
            elif made == ANY and are_texts and not is_json_text:
                made = ("str",)
            types[form_field.key] = made
        return types

    def _whole_body(self, media_type: str, media: Mapping[str, Any]) -> Type:
        hint = f"{self.name}Body"
        schema = media.get("schema", {})
        family = family_of(essence(media_type))
        if is_range(media_type):
            return ANY
        if "itemSchema" in media:
            return (f"list[{written(self.types.of(media['itemSchema'], f'{hint}Item', REQUEST))}]",)
        if family == "json":
            return self.types.of(schema, hint, REQUEST)
        if family in FORMS:
            has_files = self.operation.body is not None and self.operation.body.takes_files
            made = ANY if has_files else self.types.of(schema, hint, REQUEST)
            return ("dict[str, Any]",) if made == ANY else made
        if family == "text":
            kinds = kinds_of(schema, self.schemas)
            return self.types.of(schema, hint, REQUEST) if kinds - COMPOSITE else ("str",)
        has_file = self.operation.body is not None and self.operation.body.takes_files
        return ANY if has_file else ("bytes",)

    @property
    def files(self) -> list[str]:
        """The arguments that are files: bytes, or `File`s if the wiring has `files`."""
        form = None if self.operation.body is None else self.operation.body.form
        return [] if form is None else [each.key for each in form.fields.values() if each.binary]

    @cached_property
    def replies(self) -> dict[str, tuple[str, Type]]:
        """Documented status -> the type of the status, and that of the body."""
        found = {}
        for key, node in self.raw.get("responses", {}).items():
            status = str(key)
            response = self.schemas.resolve(node)
            is_number = status.isdigit()
            hint = f"{self.name}Response{'' if status == self._success else status}"
            body = self._reply(response, hint)
            found[status] = (f"Literal[{status}]" if is_number else "int", body)
        return found

    @property
    def _success(self) -> str:
        keys = sorted(str(key) for key in self.raw.get("responses", {}))
        good = [key for key in keys if key[0] == "2"]
        return next(iter([*good, *keys[-1:]] if "default" in keys else [*good, *keys]), "default")

    def _reply(self, response: Mapping[str, Any], hint: str) -> Type:
        content = response.get("content", {})
        found: Type = ()
        for media_type, node in content.items():
            media = self.schemas.resolve(node)
            if is_json(media_type):
                made = self.types.of(media.get("schema", {}), hint, RESPONSE)
            elif is_sequence(media_type) and "itemSchema" in media:
                item = written(self.types.of(media["itemSchema"], f"{hint}Item", RESPONSE))
                made = (f"Iterator[{item}]", f"AsyncIterator[{item}]")
            else:
                made = ("_Pieces",)
            found = joined(found, made)
        if len(written(found)) > MAX_BODY:
            return self.types.define_alias(hint, found)
        return found or ("None",)

    @property
    def returned(self) -> str:
        """The return annotation of its generated handler."""
        status, body = self.replies.get(self._success, ("int", ANY))
        key = self._success
        content = self.schemas.resolve(self.raw.get("responses", {}).get(key, {})).get("content")
        if content and not all(map(is_json, content)):
            return "Response"
        text = written(body)
        is_bare = status == "Literal[200]" or key == "default"
        return text if is_bare and content else f"tuple[{text}, {status}]"

    def reply_lines(self) -> list[str]:
        """Return the lines of the alias for all allowed return values of the handler."""
        known = self.replies
        plain = next((key for key in ("200", "2XX", "2xx", "default") if key in known), None)
        found = [] if plain is None or known[plain][1] == ("None",) else [*known[plain][1]]
        grouped: dict[str, list[str]] = defaultdict(list)
        for status, body in known.values():
            grouped[written(body)].append(status)
        for text, statuses in grouped.items():
            numbers = [each for each in statuses if each != "int"]
            width = WIDTH - 12 - len(f"| _Reply[{text}, Literal[]]")
            rows = textwrap.wrap(", ".join(value_of(each) for each in numbers), max(width, 10))
            found += [f"_Reply[{text}, Literal[{row.rstrip(',')}]]" for row in rows]
            if "int" in statuses:
                found.append(f"_Reply[{text}, int]")
        start = f"{self._reply_name}: TypeAlias = "
        return union_lines(start, found or ["Never"], "    ")

    def protocol_lines(self) -> list[str]:
        """Return the lines of the protocol that the handler must fit."""
        optional = self.operation.optional
        arguments = [
            f"{name}: {written(members)}{' = ...' if name in optional else ''}"
            for name, members in self.arguments.items()
        ]
        own = "__self" if "self" in self.arguments else "self"
        given = [own, "ctx: Never", *(["*"] if arguments else []), *arguments]
        result = f"_Returned[{self._reply_name}]"
        one = f"        def __call__({', '.join(given)}) -> {result}: ..."
        head = [f"    class {self.protocol}(Protocol):"]
        if len(one) <= WIDTH and not AMBIGUOUS & self.arguments.keys():
            return [*head, one]
        inner = [
            f"            {each},{'  # noqa: E741' if each[:2] in _MARKED else ''}"
            for each in given
        ]
        return [*head, "        def __call__(", *inner, f"        ) -> {result}: ..."]


def typed_module(title: str, operations: Sequence[TypedOperation], *, with_handlers: bool) -> str:
    """Return the module with the types of a service, without its first line. With `with_handlers`,
    type checkers compare the handlers with the document.
    """
    parts: list[tuple[bool, list[str]]] = []
    if operations:
        types = operations[0].types
        for each in operations:
            _ = each.arguments, each.replies
        types.add_components()
        parts = [(each.is_class, each.lines) for each in types.definitions()]
        if with_handlers:
            parts.append((True, _checks(operations, types)))
    names = names_in(line for _, lines in parts for line in lines)
    imports = [
        line
        for module, known in _IMPORTS.items()
        for line in _import_lines(module, sorted(names & known, key=_by_case))
    ]
    head = [docstring(title, ""), "", "# isort: skip_file", "from __future__ import annotations"]
    head += ["", *imports] if imports else []
    return "\n".join(_separated([(False, head), *parts], blank=2)) + "\n"


def _is_name(part: str) -> bool:
    return part.isidentifier() and not iskeyword(part)


def _checks(operations: Sequence[TypedOperation], types: SchemaTypes) -> list[str]:
    """Return the lines that only type checkers read. They assert that each handler fits the
    document.
    """
    modules: dict[str, str] = {}
    for each in operations:
        module = each.handler.module
        if not all(map(_is_name, str(each.handler).split("."))):
            raise DocumentError(f"the handler {str(each.handler)!r} is not the name of a function")
        if module not in modules:
            modules[module] = types.unused(f"_{module.rpartition('.')[2]}")
    imports = ["    from specd import Response"]
    for module, name in modules.items():
        package, _, last = module.rpartition(".")
        source = f"from {package} import {last}" if package else f"import {last}"
        imports.append(f"    {source} as {name}")
    generic = [
        '    _Body = TypeVar("_Body")',
        '    _Status = TypeVar("_Status")',
        "    _Reply: TypeAlias = tuple[_Body, _Status] | tuple[_Body, _Status, Mapping[str, str]]",
        "    _Returned: TypeAlias = _Body | Response | Awaitable[_Body | Response]",
    ]
    if any("_Pieces" in body for each in operations for _, body in each.replies.values()):
        pieces = "str | bytes | Iterator[Any] | AsyncIterator[Any]"
        generic.append(f"    _Pieces: TypeAlias = {pieces}")
    parts: list[tuple[bool, list[str]]] = [(True, imports), (False, generic)]
    # mypy knows the type of a decorated handler only in the body of a function, because handlers
    # import this module. pyright reports a function that nothing calls if its name is private.
    compared = ["    def compare_handlers() -> None:"]
    for number, each in enumerate(operations, 1):
        parts += [(False, each.reply_lines()), (True, each.protocol_lines())]
        name = f"_{number}"  # linters accept this name although it is not used
        function = f"{modules[each.handler.module]}.{each.handler.function}"
        line = f"        {name}: {each.protocol} = {function}"
        if len(line) > WIDTH:
            start = f"        {name}: {each.protocol} = ("
            compared += [start, f"            {function}", "        )"]
        else:
            compared.append(line)
    return ["if TYPE_CHECKING:", *_separated([*parts, (True, compared)], blank=1)]


def _separated(parts: Iterable[tuple[bool, list[str]]], *, blank: int) -> list[str]:
    """Return the lines of definitions, with blank lines around those that are marked."""
    found: list[str] = []
    after = False
    for is_marked, lines in parts:
        if found and (is_marked or after):
            found += [""] * blank
        elif found and blank == 2:
            found.append("")
        found += lines
        after = is_marked
    return found


def _import_lines(module: str, names: Sequence[str]) -> list[str]:
    one = f"from {module} import {', '.join(names)}"
    if len(one) <= WIDTH:
        return [one] if names else []
    return [f"from {module} import (", *(f"    {name}," for name in names), ")"]


def _by_case(name: str) -> tuple[bool, str]:
    """Return the sort key of an imported name. Constants are first."""
    return not name.isupper(), name


def first_line(documents: Iterable[Document], facts: Sequence[object], text: str) -> str:
    """Return the first line of a module: a digest of its sources and of its text."""
    whole = hashlib.sha256(json.dumps([FORMAT, *facts]).encode())
    for document in documents:
        for at, node, kind in walk(document.content):
            if isinstance(node, Mapping):
                own = {k: v for k, v in node.items() if k not in _WORDS | OBJECTS[kind].keys()}
                whole.update(json.dumps([at, own], default=str).encode())
            else:
                whole.update(json.dumps([at, node], default=str).encode())
    whole.update(text.encode())
    return f"{_HEAD}{whole.hexdigest()[:16]}\n"


def is_current(documents: Iterable[Document], facts: Sequence[object], source: str) -> bool:
    """Return whether a module is unchanged and was generated from the current documents."""
    head, _, text = source.partition("\n")
    return f"{head}\n" == first_line(documents, facts, text)
