"""Generates the source of a new service from its document, for `specd new`.

Files that are the same for every service are in `specd/_cli/templates`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

from specd._cli import sent_values
from specd._cli.literals import WIDTH, docstring, literal
from specd._cli.typed_operations import TypedOperation
from specd._cli.typed_schemas import (
    ANY,
    REQUEST,
    RESPONSE,
    SchemaTypes,
    names_in,
    written,
)
from specd._engine.document.media import JSON, MULTIPART, URLENCODED, is_json
from specd._engine.document.operation import Operation
from specd._engine.document.schemas import Schemas
from specd._engine.document.signatures import arguments_of
from specd._engine.mocking.service import mocked
from specd._engine.mocking.values import Impossible, Values
from specd._engine.openapi.naming import (
    UNTAGGED,
    HandlerName,
    handlers_of,
    identifier_of,
)
from specd._engine.openapi.union import Document
from specd._engine.serving.app import build_app, engine_of

TEMPLATES = Path(__file__).parent / "templates"
_WITH_CONTENT = ("post", "put", "patch")
_METHODS = ("get", "head", "options", "delete", *_WITH_CONTENT)
"""HTTP methods for which the test client has a method."""


@dataclass(frozen=True)
class Described:
    """One compiled operation of a document, with the object that describes it."""

    operation: Operation
    path: str
    """The path as in the document."""
    raw: Mapping[str, Any]
    handler: HandlerName
    document: Mapping[str, Any]
    values: Values
    typed: TypedOperation

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
        """Return the source of a function with the signature that the document requires."""
        return f"{self.signature()}\n    {self._docstring()}\n    raise NotImplementedError\n"

    def signature(self) -> str:
        """Return the head of the function, in one line or with a line for each argument."""
        arguments = arguments_of(self.operation, self._argument_types())
        start, end = (
            f"def {self.handler.function}(",
            f") -> {self.typed.types.qualified(self.typed.returned)}:",
        )
        one = f"{start}{', '.join(arguments)}{end}"
        if len(one) <= WIDTH and "l" not in self.operation.argument_names:
            return one
        lines = [f"    {each},{'  # noqa: E741' if each[:2] == 'l:' else ''}" for each in arguments]
        return "\n".join([start, *lines, end])

    def _argument_types(self) -> dict[str, str]:
        names = self.operation.argument_names
        found = {
            name: "object" if members == ANY else self.typed.types.qualified(written(members))
            for name, members in self.typed.arguments.items()
        }
        found |= dict.fromkeys(self.typed.files, "bytes")
        order = [*found, *sorted(names - found.keys())]
        return {name: found.get(name, "object") for name in order if name in names}

    def _docstring(self) -> str:
        text = self.raw.get("summary") or str(self.raw.get("description", "")).partition("\n")[0]
        return docstring(str(text).strip() or f"{self.operation.method} {self.path}")

    def test_source(self) -> str:
        """Return a test that sends the document's example. For an operation with security, add a
        test without credentials.
        """
        name = f"test_{self.handler.function}"
        success = self._expected()
        if not self.is_secured:
            return _test(name, "client", self._call("client"), success)
        missing = "response.status_code == 401"
        call = self._call("client", has_body=False)
        return "\n\n".join(
            (
                _test(name, "as_user", self._call("as_user"), success),
                _test(f"{name}_rejects_missing_credentials", "client", call, missing),
            )
        )

    def _expected(self) -> str:
        """Return the condition that a response has the documented status of success. If there is
        none, the response must have a documented error.
        """
        statuses = sorted(str(key) for key in self.raw.get("responses", {}))
        known = [key for key in statuses if key.isdigit() or key[1:].upper() == "XX"]
        good = [key for key in known if key[0] in "23"]
        if good and good[0].isdigit():
            return f"response.status_code == {good[0]}"
        if good and good[0][0] == "3":
            return "response.is_redirect"
        if good or "default" in statuses:
            return "response.is_success"
        errors = [key for key in known if key != "401" or not self.is_secured] or known
        if not all(map(str.isdigit, errors)):
            return "response.is_error"
        if len(errors) == 1:
            return f"response.status_code == {errors[0]}"
        return f"response.status_code in ({', '.join(errors)})"

    @property
    def is_secured(self) -> bool:
        """Whether the operation cannot be called without credentials."""
        alternatives = self.raw.get("security", self.document.get("security", []))
        return bool(alternatives) and all(alternatives)

    def _call(self, client: str, *, has_body: bool = True) -> str:
        """Return the source of a request to the operation with the examples of the document."""
        query, cookies = [], []
        headers = {}
        path = self.path
        for parameter in self.parameters:
            value = _example_of(parameter, self.values)
            where, name = parameter["in"], parameter["name"]
            if where == "path":
                path = path.replace("{" + name + "}", sent_values.in_path(parameter, value))
            elif value is not None and where in ("query", "querystring"):
                query.append(sent_values.in_query(parameter, value))
            elif value is not None and where == "header" and parameter.get("required"):
                headers[name] = sent_values.in_header(parameter, value)
            elif value is not None and where == "cookie" and parameter.get("required"):
                cookies.append(sent_values.in_cookie(parameter, value))
        if cookies:
            headers["Cookie"] = "; ".join(cookies)
        target = path + (f"?{'&'.join(query)}" if query else "")
        arguments: dict[str, Any] = {}
        for media_type, media in self.content.items() if has_body else ():
            value = _example_of(media, self.values)
            if is_json(media_type):
                arguments["json"] = value
                if media_type != JSON:
                    headers["Content-Type"] = media_type
            elif media_type == URLENCODED:
                arguments["data"] = sent_values.fields_of(value)
            elif media_type == MULTIPART:
                arguments["files"] = self._parts(media, value)
            else:
                arguments["content"] = sent_values.text_of(value)
                headers["Content-Type"] = media_type
            break
        if headers:
            arguments["headers"] = headers
        method = self.operation.method.lower()
        has_content = arguments.keys() - {"headers"}
        if method in (_WITH_CONTENT if has_content else _METHODS):
            return _call(f"response = {client}.{method}", {"": target, **arguments})
        call = {"": self.operation.method, " ": target, **arguments}
        return _call(f"response = {client}.request", call)

    def _parts(self, media: Mapping[str, Any], value: Mapping[str, Any]) -> list[Any]:
        """Return the parts of a multipart form for httpx. A part that is not a file has no file
        name, and JSON has its media type.
        """
        properties = self.schemas.resolve(media.get("schema", {})).get("properties", {})
        found: list[Any] = []
        for name, part in value.items():
            schema = self.schemas.resolve(properties.get(name, {}))
            items = self.schemas.resolve(schema.get("items", {}))
            for each in part if isinstance(part, list) else [part]:
                if "binary" in (schema.get("format"), items.get("format")):
                    found.append((name, (name, sent_values.text_of(each))))
                elif isinstance(each, dict):
                    found.append((name, (None, sent_values.text_of(each), JSON)))
                else:
                    found.append((name, (None, sent_values.text_of(each))))
        return found


def _test(name: str, fixture: str, call: str, condition: str) -> str:
    lines = [
        f"def {name}({fixture}: Client) -> None:",
        *textwrap.indent(f"{call}\nassert {condition}", "    ").splitlines(),
    ]
    lines = [line if len(line) <= WIDTH else f"{line}  # noqa: E501" for line in lines]
    return "\n".join(lines) + "\n"


def describe(
    documents: Sequence[Document],
    handlers: str,
    *,
    has_modules: bool = True,
    snake_case: bool = False,
) -> list[Described]:
    """Return all operations of a service's documents. `handlers` is the package of its handlers, or
    without `has_modules` their only module. Raise `DocumentError`.
    """
    service = mocked(documents)
    engine = engine_of(build_app([service]))
    assert engine is not None
    compiled = {op.operation_id: op for op in engine.apis[0].operations}
    values = Values(service.document, drop=REQUEST)
    schemas = {
        REQUEST: values.schemas,
        RESPONSE: Schemas(service.document, drop=RESPONSE),
    }
    types = SchemaTypes(service.document, schemas)
    operations = [
        (path, method, raw)
        for path, item in service.document["paths"].items()
        for method, raw in item.items()
    ]
    names = handlers_of(handlers, operations, has_modules=has_modules, snake_case=snake_case)
    found = []
    for path, method, raw in operations:
        operation, name = compiled[str(raw["operationId"])], names[path, method]
        typed = TypedOperation(operation, raw, name, types, values.schemas)
        found.append(Described(operation, path, raw, name, service.document, values, typed))
    return found


def handlers_module(module: str, operations: Sequence[Described], types: str) -> str:
    """Return the source of a module of handlers, whose types are in the module `types`."""
    functions = [each.handler_source() for each in operations]
    text = "\n\n".join(functions)
    lines = [docstring(_title(module), ""), ""]
    lines += [*imports_of(text, types), "", "", text]
    return "\n".join(lines)


def _title(module: str) -> str:
    name = module.rpartition(".")[2]
    return "Operations" if name == UNTAGGED else f"Operations of the tag {name}"


def imports_of(text: str, types: str) -> list[str]:
    """Return the imports that functions need, whose types are in the module `types`."""
    used = names_in([text])
    standard = sorted(used & {"Any", "Literal"})
    lines = [f"from typing import {', '.join(standard)}", ""] if standard else []
    names = ["Context", "Response"] if "-> Response:" in text else ["Context"]
    package, _, name = types.rpartition(".")
    others = [f"from {package} import {name}"] if f"{name}." in text else []
    return [*lines, *sorted([*others, f"from specd import {', '.join(names)}"])]


def tests_module(module: str, operations: Sequence[Described]) -> str:
    """Return the source of a module with a test for each operation."""
    tests = [each.test_source() for each in operations]
    head = docstring(f"{_title(module)}, with the examples of the document", "")
    return f"{head}\n\nfrom specd.testing import Client\n\n\n" + "\n\n".join(tests)


_CREDENTIALS = {
    "basic": "user: str, password: str",
    "bearer": "token: str",
    "apiKey": "key: str",
    **dict.fromkeys(("oauth2", "openIdConnect"), "token: str, required_scopes: list[str]"),
}
"""Kind of a security scheme -> the parameters of its function."""
_KEYS = {
    "apiKey": "x-apikeyInfoFunc",
    **dict.fromkeys(("oauth2", "openIdConnect"), "x-tokenInfoFunc"),
}


def key_of_function(scheme: Mapping[str, Any]) -> str:
    """Return the key by which a security scheme names its function."""
    kind = kind_of_scheme(scheme)
    return _KEYS.get(kind, f"x-{kind}InfoFunc")


def kind_of_scheme(scheme: Mapping[str, Any]) -> str:
    """Return the kind of a security scheme: its scheme for `http`, or else its type."""
    kind = str(scheme.get("type"))
    return str(scheme.get("scheme", "")).lower() if kind == "http" else kind


def function_of_scheme(name: str) -> str:
    return "check_" + identifier_of(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


def auth_module(schemes: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the source of a module with a function for each of the security schemes."""
    parts = ['"""Who calls: one function for each security scheme of the document."""\n']
    for name, scheme in schemes.items():
        arguments = _CREDENTIALS.get(kind_of_scheme(scheme), "credentials: str")
        signature = f"def {function_of_scheme(name)}({arguments}) -> str | None:"
        text = docstring(f"Return who calls, by `{name}`; None for bad credentials")
        ready = _TOKENS.format(name=function_of_scheme(name)) if _has_tokens(scheme) else ""
        parts.append(f"{ready}{signature}\n    {text}\n    raise NotImplementedError\n")
    return "\n\n".join(parts)


_TOKENS = """\
# For tokens that this service signs, with `from specd.auth import Bearer, Tokens`, a setting
# `token_secret` of the project and the extra `auth` of specd-server, this line is enough:
# {name} = Bearer(lambda settings: Tokens(settings.token_secret))
"""


def _has_tokens(scheme: Mapping[str, Any]) -> bool:
    """Return whether the credentials of a scheme are JSON Web Tokens."""
    is_jwt = str(scheme.get("bearerFormat", "")).upper() == "JWT"
    return is_jwt and kind_of_scheme(scheme) == "bearer"


def fill(template: str, **facts: str) -> str:
    """Return the text of a file in `specd/_cli/templates` with its placeholders replaced."""
    text = (TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(facts)


def _schema_of(parameter: Mapping[str, Any]) -> Any:
    if "content" in parameter:
        (media,) = parameter["content"].values()
        return media.get("schema", {})
    return parameter.get("schema", {})


def _example_of(node: Mapping[str, Any], values: Values) -> Any:
    """Return the example of a parameter or a media type, or else a value that is generated from its
    schema, or None.
    """
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


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the source of a call, in one line or with a line for each value. A blank name is a
    positional argument.
    """
    given = [(f"{key}=" if key.strip() else "", value) for key, value in arguments.items()]
    one = f"{name}({', '.join(key + literal(value) for key, value in given)})"
    if len(one) <= WIDTH - 4:
        return one
    return f"{name}(\n{_lines(given)})"


def _lines(items: Iterable[tuple[str, Any]]) -> str:
    """Return lines with values, each after its prefix. The trailing comma keeps the formatter from
    joining the lines.
    """
    return textwrap.indent("".join(f"{key}{_laid_out(value)},\n" for key, value in items), " " * 4)


def _laid_out(value: Any) -> str:
    if value and isinstance(value, dict):
        return f"{{\n{_lines((f'{literal(key)}: ', part) for key, part in value.items())}}}"
    if value and isinstance(value, list):
        return f"[\n{_lines(('', part) for part in value)}]"
    return literal(value)
