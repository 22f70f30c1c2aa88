"""The documented answers of an operation, compiled; answers are validated in all tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from server.document.schemas import Schemas, Validate
from server.errors import NonConformingResponse
from server.response import JSON, Response

SHORT_LIST = 100
MANY = 100


class Responses:
    """The documented answers of one operation, by status."""

    def __init__(
        self,
        declared: Mapping[str, Any],
        schemas: Schemas,
        place: str,
    ) -> None:
        self._place = place
        self._bodies: dict[str, dict[str, Validate]] = {}
        self._headers: dict[str, tuple[str, ...]] = {}
        self.hold_lists = False
        """Whether a good answer may hold a list longer than `SHORT_LIST`, so that it may take long
        to make."""
        for status, node in declared.items():
            response = schemas.resolve(node)
            key = str(status)
            self._bodies[key] = {
                media_type: schemas.compile(
                    media.get("schema", {}), f"{place} response {key} {media_type}"
                )
                for media_type, media in response.get("content", {}).items()
            }
            if key.startswith("2"):
                self.hold_lists |= any(
                    holds_list(schemas, media.get("schema", {}))
                    for media in response.get("content", {}).values()
                )
            self._headers[key] = tuple(
                name.lower()
                for name, header in response.get("headers", {}).items()
                if schemas.resolve(header).get("required", False)
            )

    def check(self, response: Response, sent: frozenset[str]) -> None:
        """Raise `NonConformingResponse` unless the document allows this answer.

        `sent` are the lower-case names of all headers that go out with it.
        """
        key = str(response.status)
        if key not in self._bodies:
            key = f"{key[0]}XX" if f"{key[0]}XX" in self._bodies else "default"
        if key not in self._bodies:
            raise NonConformingResponse(f"{self._place}: status {response.status} is undocumented")
        missing = [name for name in self._headers[key] if name not in sent]
        if missing:
            raise NonConformingResponse(f"{self._place}: {key} lacks the header {missing[0]}")
        bodies = self._bodies[key]
        if not bodies:
            if response.body:
                raise NonConformingResponse(f"{self._place}: {key} must have no body")
            return
        media_type = response.media_type.partition(";")[0]
        validate = bodies.get(media_type)
        if validate is None:
            raise NonConformingResponse(
                f"{self._place}: {key} has the media type {response.media_type}"
            )
        is_json = media_type == JSON
        body = json.loads(response.body) if is_json else response.body.decode("utf-8")
        violations = validate(body, "/body")
        if violations:
            first = violations[0]
            raise NonConformingResponse(f"{self._place}: {key}{first.path} {first.message}")


def holds_list(schemas: Schemas, schema: Any) -> bool:
    """Return whether a schema describes a list without a small bound anywhere, or refers to more
    than `MANY` others.
    """
    waiting = [schema]
    seen: set[str] = set()
    while waiting:
        if len(seen) > MANY:
            return True
        part = waiting.pop()
        if not isinstance(part, Mapping) or part.get("$ref") in seen:
            continue
        if "$ref" in part:
            seen.add(part["$ref"])
            part = schemas.resolve(part)
        if "array" in str(part.get("type")) and part.get("maxItems", SHORT_LIST + 1) > SHORT_LIST:
            return True
        waiting += [
            *part.get("properties", {}).values(),
            *(each for key in ("allOf", "anyOf", "oneOf") for each in part.get(key, ())),
            part.get("items"),
            part.get("additionalProperties"),
        ]
    return False
