"""The source of a new service, made of its document: what `specd new` writes.

What is the same for every service stands in `specd/_cli/templates`.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote, urlencode

from specd._cli.literals import WIDTH, docstring, literal
from specd._engine.document.kinds import kinds_of
from specd._engine.document.media import FORMS, JSON, MULTIPART, URLENCODED, is_json
from specd._engine.document.operation import Operation
from specd._engine.document.parameters import argument_name
from specd._engine.document.schemas import Schemas
from specd._engine.document.signatures import arguments_of
from specd._engine.errors import DocumentError
from specd._engine.mocking.service import mocked
from specd._engine.mocking.values import Impossible, Values
from specd._engine.openapi.naming import UNTAGGED, HandlerName, handlers_of, identifier_of
from specd._engine.openapi.servers import base_path_of
from specd._engine.openapi.structure import CONTENT_SCHEMA
from specd._engine.openapi.union import Document
from specd._engine.serving.app import build_app, engine_of
from specd._project import current

TEMPLATES = Path(__file__).parent / "templates"
_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "object": "dict[str, Any]",
    "null": "None",
}
ERRORS = (
    ('{"code": code, "message": message}', {"code": "a", "message": "b"}),
    ('{"code": status, "message": message}', {"code": 404, "message": "b"}),
    (
        '{"type": "about:blank", "title": code, "status": status, "detail": message}',
        {"type": "about:blank", "title": "a", "status": 404, "detail": "b"},
    ),
    ('{"error": {"code": code, "message": message}}', {"error": {"code": "a", "message": "b"}}),
    ('{"error": code, "message": message}', {"error": "a", "message": "b"}),
    ('{"error": message}', {"error": "b"}),
    ('{"message": message}', {"message": "b"}),
    ('{"detail": message}', {"detail": "b"}),
)
"""Bodies of errors, as source and as an example of it: the first that fits a document is taken."""


@dataclass(frozen=True)
class Described:
    """One operation of a document, compiled, with the object that describes it."""

    operation: Operation
    path: str
    """As the document has it."""
    raw: Mapping[str, Any]
    handler: HandlerName
    document: Mapping[str, Any]
    values: Values

    @property
    def schemas(self) -> Schemas:
        return self.values.schemas

    @cached_property
    def parameters(self) -> list[Mapping[str, Any]]:
        return [self.schemas.resolve(node) for node in self.raw.get("parameters", ())]

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The media types of the request."""
        body = self.schemas.resolve(self.raw.get("requestBody", {}))
        content: Mapping[str, Any] = body.get("content", {})
        return content

    def handler_source(self) -> str:
        """Return the function with the signature that the document demands."""
        return f"{self.signature()}\n    {self._docstring()}\n    raise NotImplementedError\n"

    def signature(self) -> str:
        """Return the head of the function, in one line or with a line for each argument."""
        arguments = arguments_of(self.operation, self._argument_types())
        start, end = f"def {self.handler.function}(", f") -> {self._returned()}:"
        one = f"{start}{', '.join(arguments)}{end}"
        if len(one) <= WIDTH and "l" not in self.operation.argument_names:
            return one
        lines = [f"    {each},{'  # noqa: E741' if each[:2] == 'l:' else ''}" for each in arguments]
        return "\n".join([start, *lines, end])

    def _argument_types(self) -> dict[str, str]:
        names = self.operation.argument_names
        found = {
            argument_name(parameter["name"]): self._type(_value_schema_of(parameter))
            for parameter in self.parameters
        }
        for media_type, media in self.content.items():
            schema = self.schemas.resolve(media.get("schema", {}))
            if media_type in FORMS:
                for name, part in schema.get("properties", {}).items():
                    is_file = self.schemas.resolve(part).get("format") == "binary"
                    found[argument_name(name)] = "bytes" if is_file else self._type(part)
        if "body" in names and "body" not in found:
            kinds = {self._body_type(*each) for each in self.content.items()}
            found["body"] = " | ".join(sorted(kinds))
        order = [*found, *sorted(names - found.keys())]
        return {name: found.get(name, "object") for name in order if name in names}

    def _body_type(self, media_type: str, media: Mapping[str, Any]) -> str:
        if is_json(media_type):
            return self._type(media.get("schema", {}))
        return "str" if media_type.startswith("text/") else "bytes"

    def _type(self, schema: Any) -> str:
        try:
            kinds = kinds_of(schema, self.schemas)
            resolved = self.schemas.resolve(schema)
        except (DocumentError, RecursionError, KeyError):
            return "object"
        kinds |= {"null"} if resolved.get("nullable") else frozenset()
        names = [
            self._array(resolved) if kind == "array" else _TYPES[kind] for kind in sorted(kinds)
        ]
        names = list(dict.fromkeys(names))
        if "object" in names or not names:
            return "object"
        return " | ".join(sorted(names, key=lambda name: name == "None"))

    def _array(self, schema: Mapping[str, Any]) -> str:
        return f"list[{self._type(schema['items']) if 'items' in schema else 'object'}]"

    def _returned(self) -> str:
        status, response = self.success
        content = response.get("content", {})
        if not content:
            return "tuple[None, int]"
        kinds = {self._type(m.get("schema", {})) for name, m in content.items() if is_json(name)}
        if len(kinds) != 1 or len(content) > 1:
            return "Response"
        (kind,) = kinds
        return kind if status == 200 else f"tuple[{kind}, int]"

    @property
    def success(self) -> tuple[int, Mapping[str, Any]]:
        """The first good status, and its response."""
        responses = {
            str(k): self.schemas.resolve(v) for k, v in self.raw.get("responses", {}).items()
        }
        good = sorted(key for key in responses if key.startswith("2"))
        key = good[0] if good else "default"
        return int(key.upper().replace("X", "0")) if good else 200, responses.get(key, {})

    def _docstring(self) -> str:
        text = self.raw.get("summary") or str(self.raw.get("description", "")).partition("\n")[0]
        return docstring(str(text).strip() or f"{self.operation.method} {self.path}")

    def test_source(self, base_path: str) -> str:
        """Return a test that sends the document's example."""
        schemes = self.document.get("components", {}).get("securitySchemes", {})
        query = []
        headers = example_credentials(schemes) if self.operation.authenticate else {}
        path = self.path if self.path.startswith(f"{base_path}/") else base_path + self.path
        for parameter in self.parameters:
            value = _example_of(parameter, self.values)
            where, name = parameter["in"], parameter["name"]
            if where == "path":
                path = path.replace("{" + name + "}", quote(_text(value), safe=""))
            elif value is not None and where == "query" and "content" not in parameter:
                query += [
                    (name, _text(each)) for each in (value if isinstance(value, list) else [value])
                ]
            elif value is not None and where == "header" and parameter.get("required"):
                headers[name] = _text(value)
        target = path + (f"?{urlencode(query)}" if query else "")
        arguments: dict[str, Any] = {"": self.operation.method, " ": target}
        for media_type, media in self.content.items():
            value = _example_of(media, self.values)
            if is_json(media_type):
                arguments["json"] = value
            elif media_type == URLENCODED:
                arguments["data"] = value
            elif media_type != MULTIPART:
                arguments["content"] = value if isinstance(value, str) else _text(value)
                headers["Content-Type"] = media_type
            break
        if headers:
            arguments["headers"] = headers
        call = _call("calls", arguments)
        name = f"test_{self.handler.function}"
        lines = [f"def {name}(calls: Calls) -> None:", *textwrap.indent(call, "    ").splitlines()]
        lines = [line if len(line) <= WIDTH else f"{line}  # noqa: E501" for line in lines]
        return "\n".join(lines) + "\n"


def _uses_snake_case(service: str) -> bool:
    project = current()
    return service in project.names and project[service].snake_case


def describe(documents: Sequence[Document], handlers: str) -> list[Described]:
    """Return all operations of a service's documents. Raise `DocumentError`."""
    service = mocked(documents)
    engine = engine_of(build_app([service]))
    assert engine is not None
    compiled = {op.operation_id: op for op in engine.apis[0].operations}
    values = Values(service.document, drop="readOnly")
    operations = [
        (path, method, raw)
        for path, item in service.document["paths"].items()
        for method, raw in item.items()
    ]
    names = handlers_of(handlers, operations, snake_case=_uses_snake_case(documents[0].name))
    return [
        Described(
            compiled[str(raw["operationId"])],
            path,
            raw,
            names[path, method],
            service.document,
            values,
        )
        for path, method, raw in operations
    ]


def handlers_module(module: str, operations: Sequence[Described]) -> str:
    """Return a module of handlers."""
    functions = [each.handler_source() for each in operations]
    text = "\n\n".join(functions)
    lines = [docstring(_title(module), ""), ""]
    lines += [*imports_of(text), "", "", text]
    return "\n".join(lines)


def _title(module: str) -> str:
    name = module.rpartition(".")[2]
    return "Operations" if name == UNTAGGED else f"Operations of the tag {name}"


def imports_of(text: str) -> list[str]:
    """Return the imports that functions need."""
    lines = ["from typing import Any", ""] if ", Any]" in text else []
    lines.append("from specd._engine.context import Context")
    if "-> Response:" in text:
        lines.append("from specd._engine.response import Response")
    return lines


def tests_module(module: str, operations: Sequence[Described], base_path: str) -> str:
    """Return a module with a test for each operation."""
    tests = [each.test_source(base_path) for each in operations]
    head = docstring(f"{_title(module)}, with the examples of the document", "")
    return f"{head}\n\nfrom tests.support.calls import Calls\n\n\n" + "\n\n".join(tests)


def error_table(name: str, content: Mapping[str, Any], operations: Sequence[Described]) -> str:
    """Return the error table, with bodies that the document's errors allow."""
    media = [error for each in operations for error in _errors_of(each)]
    values = Values(content, drop="writeOnly")

    def fitting(candidate: tuple[str, Any]) -> int:
        return sum(values.fits(schema, candidate[1]) for _, schema in media)

    body, _ = max(ERRORS, key=fitting)
    kinds = {media_type for media_type, _ in media}
    kind = kinds.pop() if len(kinds) == 1 else JSON
    return fill("errors.py", name=name, body=body, media_type=literal(kind))


def _errors_of(described: Described) -> Iterator[tuple[str, Any]]:
    """Yield the media type and the schema of each error of an operation."""
    resolve = described.schemas.resolve
    for status, response in described.raw.get("responses", {}).items():
        if str(status)[0] in "45d":
            for media_type, media in resolve(response).get("content", {}).items():
                if is_json(media_type):
                    yield media_type, media.get("schema", True)


_CREDENTIALS = {
    "basic": "user: str, password: str",
    "bearer": "token: str",
    "apiKey": "key: str",
    **dict.fromkeys(("oauth2", "openIdConnect"), "token: str, required_scopes: list[str]"),
}
"""Kind of a security scheme -> what its function takes."""
_KEYS = {
    "apiKey": "x-apikeyInfoFunc",
    **dict.fromkeys(("oauth2", "openIdConnect"), "x-tokenInfoFunc"),
}


def key_of_function(scheme: Mapping[str, Any]) -> str:
    """Return the key by which a security scheme names its function."""
    kind = kind_of_scheme(scheme)
    return _KEYS.get(kind, f"x-{kind}InfoFunc")


def kind_of_scheme(scheme: Mapping[str, Any]) -> str:
    """Return the kind of a security scheme: of `http` its scheme, else its type."""
    kind = str(scheme.get("type"))
    return str(scheme.get("scheme", "")).lower() if kind == "http" else kind


def function_of_scheme(name: str) -> str:
    return "check_" + identifier_of(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


def auth_module(schemes: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a module with a function for each security scheme that names none."""
    parts = ['"""Who calls: one function for each security scheme of the document."""\n']
    for name, scheme in schemes.items():
        arguments = _CREDENTIALS.get(kind_of_scheme(scheme), "credentials: str")
        signature = f"def {function_of_scheme(name)}({arguments}) -> str | None:"
        text = docstring(f"Return who calls, by `{name}`; None for bad credentials")
        parts.append(f"{signature}\n    {text}\n    raise NotImplementedError\n")
    return "\n\n".join(parts)


def example_credentials(schemes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return headers with credentials for every scheme that takes them there."""
    found = {}
    for scheme in schemes.values():
        if "$ref" in scheme:
            continue
        match kind_of_scheme(scheme):
            case "basic":
                found["Authorization"] = "Basic YWRhOnNlY3JldA=="
            case "bearer" | "oauth2" | "openIdConnect":
                found.setdefault("Authorization", "Bearer secret")
            case "apiKey" if scheme.get("in") == "header":
                found[scheme["name"]] = "secret"
    return found


def own_base_path(name: str, document: Mapping[str, Any], taken: Sequence[str]) -> str:
    """Return where a service is served: at the path of its server, unless that is another's."""
    base_path = base_path_of(document)
    others = [f"{other}/" for other in taken]
    if (
        base_path
        and not any(f"{base_path}/".startswith(other) for other in others)
        and not any(other.startswith(f"{base_path}/") for other in others)
    ):
        return base_path
    return f"/{name.replace('_', '-')}{base_path}"


def fill(template: str, **facts: str) -> str:
    """Return a file of `specd/_cli/templates` with the facts in their places."""
    text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(facts)


def _schema_of(parameter: Mapping[str, Any]) -> Any:
    if "content" in parameter:
        (media,) = parameter["content"].values()
        return media.get("schema", {})
    return parameter.get("schema", {})


def _value_schema_of(parameter: Mapping[str, Any]) -> Any:
    """Return the schema of what a handler gets for a parameter."""
    schema = _schema_of(parameter)
    if isinstance(schema, Mapping) and CONTENT_SCHEMA in schema:
        return schema[CONTENT_SCHEMA]
    return schema


def _example_of(node: Mapping[str, Any], values: Values) -> Any:
    """Return the example of a parameter or a media type, else one made from its schema."""
    if "example" in node:
        return node["example"]
    for example in (node.get("examples") or {}).values():
        example = values.schemas.resolve(example)
        if "value" in example:
            return example["value"]
    try:
        return values.example(_schema_of(node))
    except Impossible:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call, in one line or with a line for each value; a blank name is a positional
    argument.
    """
    given = [(f"{key}=" if key.strip() else "", value) for key, value in arguments.items()]
    one = f"{name}({', '.join(key + literal(value) for key, value in given)})"
    if len(one) <= WIDTH - 4:
        return one
    return f"{name}(\n{_lines(given)})"


def _lines(items: Iterable[tuple[str, Any]]) -> str:
    """Return lines with values and what stands before each. The comma at the end of the last one
    keeps the formatter from joining them.
    """
    return textwrap.indent("".join(f"{key}{_laid_out(value)},\n" for key, value in items), " " * 4)


def _laid_out(value: Any) -> str:
    if value and isinstance(value, dict):
        return f"{{\n{_lines((f'{literal(key)}: ', part) for key, part in value.items())}}}"
    if value and isinstance(value, list):
        return f"[\n{_lines(('', part) for part in value)}]"
    return literal(value)
