"""The contents of a generated request, parsed for the conditions in `oracles`."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from specd._engine.openapi.structure import lookup
from tests.contract.differential.generate import JSON, METHODS, MULTIPART, URLENCODED, Request

Document = Mapping[str, Any]
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def resolve(node: Mapping[str, Any], document: Document) -> Mapping[str, Any]:
    while "$ref" in node:
        node = lookup(document, node["$ref"])
    return node


def templates(request: Request, document: Document) -> list[str]:
    """Return every path template that matches the decoded path, fixed ones first."""
    path = decoded(request.path) or ""
    found = []
    for template in document["paths"]:
        prefixed = template.startswith(f"{request.base_path}/")
        whole = template if prefixed else request.base_path + template
        pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(whole))
        if re.fullmatch(pattern, path, re.DOTALL):
            found.append(template)
    return sorted(found, key=lambda template: template.count("{"))


def path_texts(request: Request, document: Document) -> list[tuple[str, str]]:
    """Return name and text of every parameter in the path, for all matching templates."""
    path = decoded(request.path) or ""
    found = []
    for template in templates(request, document):
        names = re.findall("{([^}]*)}", template)
        pattern = re.sub(r"\\{[^}]*\\}", "([^/]+)", re.escape(template))
        match = re.search(f"{pattern}$", path, re.DOTALL)
        found += list(zip(names, match.groups(), strict=True)) if match else []
    return found


def operations(request: Request, document: Document) -> list[Mapping[str, Any]]:
    """Return the operations that the request may address."""
    method = "get" if request.method == "HEAD" else request.method.lower()
    items = [document["paths"][template] for template in templates(request, document)]
    return [item[method] for item in items if method in METHODS and method in item]


def parameters(request: Request, document: Document, where: str) -> dict[str, Mapping[str, Any]]:
    """Return name -> parameter, for all operations that the request may address."""
    found: dict[str, Mapping[str, Any]] = {}
    for template in templates(request, document):
        item = document["paths"][template]
        method = "get" if request.method == "HEAD" else request.method.lower()
        nodes = [*item.get("parameters", ()), *item.get(method, {}).get("parameters", ())]
        for node in nodes:
            parameter = resolve(node, document)
            if parameter["in"] == where:
                found[parameter["name"]] = parameter
    return found


def schema_of(parameter: Mapping[str, Any], document: Document) -> Mapping[str, Any]:
    if "content" in parameter:
        return resolve(parameter["content"][JSON]["schema"], document)
    return resolve(parameter["schema"], document)


def decoded(text: str, *, plus: bool = False) -> str | None:
    """Return percent-decoded text, or None if it is not UTF-8."""
    try:
        raw = text.encode("latin-1")
        return unquote_to_bytes(raw.replace(b"+", b" ") if plus else raw).decode("utf-8")
    except UnicodeError:
        return None


def query(request: Request) -> list[tuple[str | None, str | None]]:
    return [(decoded(n, plus=True), decoded(v, plus=True)) for n, v in request.query]


def query_texts(request: Request, name: str) -> list[str]:
    return [value for key, value in query(request) if key == name and value is not None]


def media_type(request: Request) -> str:
    return (request.content_type or "").partition(";")[0].strip().lower()


def json_body(request: Request) -> Any:
    """Return the body as a JSON value, or None if it is not JSON (or is `null`)."""
    try:
        return json.loads(request.body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def form_fields(request: Request) -> list[tuple[str, str]]:
    """Return the fields of an urlencoded or well-formed multipart body."""
    if media_type(request) == URLENCODED:
        fields = []
        for field in request.body.decode("latin-1").split("&"):
            if field:
                name, _, value = field.partition("=")
                fields.append(
                    (decoded(name, plus=True) or "", decoded(value, plus=True) or "\ufffd")
                )
        return fields
    if media_type(request) == MULTIPART:
        part = re.compile(rb'name="([^"]*)"\r\n\r\n(.*?)\r\n--frontier', re.DOTALL)
        return [
            (name.decode("utf-8", "replace"), value.decode("utf-8", "replace"))
            for name, value in part.findall(request.body)
        ]
    return []


def form_schema(
    request: Request, document: Document
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the schema of the form that the request may address, and its `encoding`."""
    for operation in operations(request, document):
        content = resolve(operation.get("requestBody", {}), document).get("content", {})
        if media_type(request) in content:
            media = content[media_type(request)]
            return resolve(media.get("schema", {}), document), media.get("encoding", {})
    return {}, {}


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every (key, value) of every object in a JSON value."""
    if isinstance(value, list):
        for item in value:
            yield from members(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from members(item)


def property_names(document: Document, **marks: Any) -> set[str]:
    """Return the names of all properties whose schema has these keywords, e.g. `format="uuid"`."""
    names = set()

    def visit(node: Any) -> None:
        if isinstance(node, Mapping):
            for name, item in node.get("properties", {}).items():
                resolved = resolve(item, document) if isinstance(item, Mapping) else {}
                if all(resolved.get(key) == mark for key, mark in marks.items()):
                    names.add(name)
            for item in node.values():
                visit(item)
        elif isinstance(node, list):
            for item in node:
                visit(item)

    visit(document)
    return names


def repeated(names: list[str]) -> set[str]:
    return {name for name, number in Counter(names).items() if number > 1}


def has_duplicate_keys(request: Request) -> bool:
    found = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len(dict(items)) != len(items)
        return dict(items)

    try:
        json.loads(request.body.decode("utf-8"), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return False
    return found


def is_unclean(text: str | None) -> bool:
    """Return whether a text is not UTF-8, or contains a NUL or a lone surrogate."""
    return text is None or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text)
