"""The requests given by a document's examples, as importers of collections create them.

Parameters have the value of their first example, or their default. Parameters without either are
omitted. The body has the first media type. There is one request for each example of a body.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.contract.specs.examples import Node, operations, resolve

JSON = "application/json"
ENDS_ACCESS = "x-ends-access"
"""Marks an operation after which the caller's key is invalid."""


@dataclass(frozen=True)
class ExampleRequest:
    """A request to an operation. `example` is the name of the example of its body, or None."""

    operation: str
    example: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: Any
    media_type: str
    is_signed: bool
    ends_access: bool

    @property
    def name(self) -> str:
        return f"{self.operation} {self.example}".strip()


def example_requests(document: Node) -> Iterator[ExampleRequest]:
    """Yield the requests of a published document, in its order."""
    for method, path, operation, parameters in operations(document):
        content = resolve(document, operation.get("requestBody", {})).get("content", {})
        media_type = next(iter(content), "")
        shown = content.get(media_type, {}).get("examples", {"": {"value": None}})
        for at, (name, example) in enumerate(shown.items()):
            place, query, headers = path, [], {}
            for parameter in parameters:
                value = _value(document, parameter, at)
                if value is None:
                    continue
                if parameter["in"] == "path":
                    text = quote(str(value), safe="@/")
                    place = place.replace(f"{{{parameter['name']}}}", text)
                elif parameter["in"] == "query":
                    query += [(parameter["name"], text) for text in _texts(parameter, value)]
                else:
                    headers[parameter["name"]] = str(value)
            yield ExampleRequest(
                operation=operation["operationId"],
                example=name,
                method=method,
                path=place,
                query=tuple(query),
                headers=headers,
                body=resolve(document, example)["value"],
                media_type=media_type,
                is_signed=operation.get("security") != [],
                ends_access=operation.get(ENDS_ACCESS, False),
            )


def _value(document: Node, parameter: Node, at: int) -> Any:
    """Return the example of the parameter for the body's example at index `at`, or its default."""
    media = parameter
    if "content" in parameter:
        media = next(iter(parameter["content"].values()))
    if "example" in media:
        return media["example"]
    shown = [resolve(document, each)["value"] for each in media.get("examples", {}).values()]
    if shown:
        return shown[at % len(shown)]
    return resolve(document, media["schema"]).get("default")


def _texts(parameter: Node, value: Any) -> list[str]:
    if isinstance(value, list) and "content" not in parameter:
        return [str(item) for item in value]
    return [value if isinstance(value, str) else json.dumps(value)]
