"""The calls that drive every SDK of a document: `calls/<document>.yaml`, completed by the examples
of the document.

The file has `calls`, in order. Each has `call`, the operationId, and these unless the default is
sufficient:

    with      arguments by name: path, query and header parameters, and members of the body
    example   the name of the body's example, which `with` completes; by default the first, and
              none if `with` gives members of the body
    by        the caller, one of the stage's `callers`; by default `by` of the file
    as        the name of the response for later calls; by default the operationId
    status    by default the first success in the document
    facts     path -> the value in the typed response, or in the typed error record
    headers   name -> value of the response's header

A required parameter that is not given has the value of its example. `tests.contract.sdk.paths`
describes the notation of paths and `$` values. An expected value is a value, or `{contains: text}`,
`{ends: text}`, `{length: 3}`, `{every: value}`, `{is: text}`, `{is: integer}`, `{absent: true}`.

`successes` and `refusals` of the file are facts of each response. Before the first successful call
of each operation that requires credentials, `stranger` makes the same call, which is rejected with
401 and the facts `unknown`. `skipped` lists the operations that SDKs do not call, each with the
reason. `others` instead of a call is replaced by every operation of the document without a call, so
an operation whose examples work unchanged needs no line. Without `others`, these calls are at the
end, and `others: false` omits them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import specs
from tests.contract.sdk.paths import Step, parse, parse_values
from tests.contract.specs.examples import Node, operations, resolve
from tests.support.yaml_files import read_yaml

CALLS = Path(__file__).parent / "calls"
JSON = "application/json"
OTHERS = "others"
KEYS = {"call", "with", "example", "by", "as", "status", "facts", "headers"}


@dataclass(frozen=True)
class Call:
    """A call. Its values may contain parsed refs, and `body` is None if nothing is sent.

    `json_query` are query parameters with JSON text. `body_schema` and `answer_schema` are names of
    schemas, or None. `has_record` is false for a response without JSON.
    """

    operation: str
    method: str
    path: str
    tag: str
    by: str
    name: str
    status: int
    path_values: Mapping[str, Any]
    query: Mapping[str, Any]
    json_query: Mapping[str, Any]
    header: Mapping[str, Any]
    body: Mapping[str, Any] | None
    body_schema: str | None
    answer_schema: str | None
    has_record: bool
    facts: tuple[tuple[list[Step], Any], ...]
    headers: Mapping[str, str]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class Operation:
    """An operation of the document."""

    document: Node
    method: str
    path: str
    node: Node
    parameters: tuple[Node, ...]

    @property
    def success(self) -> int:
        return min(int(status) for status in self.node["responses"] if status.startswith("2"))

    @property
    def is_for_known(self) -> bool:
        """Return whether a caller without credentials is rejected."""
        needed = self.node.get("security", self.document.get("security", []))
        return bool(needed) and {} not in needed

    def sent(self, given: Mapping[str, Any], example: str | None) -> dict[str, Any]:
        """Return the arguments as fields of a call. Raises ValueError for an unknown argument."""
        rest = dict(given)
        sent: dict[str, dict[str, Any]] = {
            field: {} for field in ("path_values", "query", "json_query", "header")
        }
        for parameter in self.parameters:
            name = parameter["name"]
            field = "path_values" if parameter["in"] == "path" else parameter["in"]
            is_json = "x-content-schema" in parameter.get("schema", ())
            field = f"json_{field}" if is_json else field
            if name in rest:
                sent[field][name] = rest.pop(name)
            elif parameter.get("required"):
                shown = self._example(parameter)
                sent[field][name] = json.loads(shown) if is_json else shown
        media = self._media(self.node.get("requestBody", {}))
        if not media and (rest or example):
            raise ValueError(f"{self.node['operationId']} does not take {rest or example}")
        shown = {} if not media or (rest and example is None) else self._example(media, example)
        body = {**shown, **rest} if media else None
        return {**sent, "body": body, "body_schema": _named(media)}

    def answered(self, status: int) -> dict[str, Any]:
        """Return the response of a status, as fields of a call."""
        media = self._media(self.node["responses"][str(status)])
        return {"answer_schema": _named(media), "has_record": bool(media)}

    def _media(self, holder: Node) -> Node:
        found: Node = resolve(self.document, holder).get("content", {}).get(JSON, {})
        return found

    def _example(self, holder: Node, name: str | None = None) -> Any:
        """Return the example of that name, or the first."""
        if "example" in holder and name is None:
            return holder["example"]
        shown = holder.get("examples", {})
        if not shown or name not in (None, *shown):
            raise ValueError(f"{self.node['operationId']} has no example {name or ''}: {holder}")
        return resolve(self.document, shown[name or next(iter(shown))])["value"]


def calls_of(document: str) -> list[Call]:
    """Return every call of a drive, in order."""
    table = read_yaml(CALLS / f"{document}.yaml")
    return read_calls(specs.load(document), table)


def growth_of(document: str) -> list[Call]:
    """Return the calls whose responses `tests.contract.sdk.growing` changes."""
    return read_calls(specs.load(document), read_yaml(CALLS / "growth" / f"{document}.yaml"))


def skipped_of(document: str) -> frozenset[str]:
    """Return the operations that no drive calls."""
    table = read_yaml(CALLS / f"{document}.yaml")
    return frozenset(table.get("skipped", {}))


def read_calls(document: Node, table: Mapping[str, Any]) -> list[Call]:
    """Return the calls of a file. Raises ValueError or KeyError if they are invalid."""
    known = {o[2]["operationId"]: Operation(document, *o) for o in operations(document)}
    rows = [row for row in table["calls"] if row != OTHERS]
    named = {*table.get("skipped", {}), *(row["call"] for row in rows)}
    unnamed = [name for name in known if name not in named]
    others = [{"call": name} for name in unnamed if table.get("others", True)]
    at = table["calls"].index(OTHERS) if OTHERS in table["calls"] else len(rows)
    found: list[Call] = []
    refused: set[str] = set()
    for row in (*rows[:at], *others, *rows[at:]):
        operation = known[row["call"]]
        call = _read(operation, row, table)
        if call.is_success and operation.is_for_known and call.operation not in refused:
            refused.add(call.operation)
            unknown = {"by": "stranger", "status": 401, "facts": table["unknown"], "headers": {}}
            found.append(_read(operation, {**row, **unknown}, table))
        found.append(call)
    return found


def _read(operation: Operation, row: Mapping[str, Any], table: Mapping[str, Any]) -> Call:
    if unread := set(row) - KEYS:
        raise ValueError(f"{row['call']}: {sorted(unread)}")
    status = row.get("status", operation.success)
    every = "successes" if status < 300 else "refusals" if status >= 400 else ""
    facts = table.get(every, {}) | row.get("facts", {})
    return Call(
        operation=row["call"],
        method=operation.method,
        path=operation.path,
        tag=operation.node["tags"][0],
        by=row.get("by", table["by"]),
        name=row.get("as", row["call"]),
        status=status,
        **operation.answered(status),
        facts=tuple((parse(path), parse_values(value)) for path, value in facts.items()),
        headers=row.get("headers", {}),
        **operation.sent(parse_values(row.get("with", {})), row.get("example")),
    )


def _named(media: Node) -> str | None:
    pointer: str = media.get("schema", {}).get("$ref", "")
    return pointer.rpartition("/")[2] or None
