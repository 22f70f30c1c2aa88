"""Makes the calls of the table with an SDK and checks the responses.

`SPECD_SDK_STAGE` is the file of facts about the server, and `SPECD_SDK_CALLS` that of the calls
(created by tests/contract/sdk/table.py). Code for a single SDK is in an `Sdk`.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

JSON = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The response to a call. Names of headers are lowercase. `record` is a typed object, or None
    if there is no body.
    """

    status: int
    headers: Mapping[str, str]
    record: Any


class Sdk(Protocol):
    """The use of one generator's SDK."""

    def send(self, call: JSON, caller: JSON) -> Answer:
        """Make a call, with values instead of refs. Errors are responses as well."""

    def schema(self, name: str) -> type:
        """Return the class of a schema of the document."""

    def member(self, record: Any, name: str) -> Any:
        """Return the member of a record by its name in the document, or None if it is absent.

        Raises AssertionError if the value does not have the type of the class.
        """

    def bare(self, value: Any) -> Any:
        """Return a value without the wrapper of a choice of types."""

    def is_absent(self, record: Any, name: str) -> bool: ...


class Drive:
    """A run through the table. Raises AssertionError if a response is not as expected."""

    def __init__(self, sdk: Sdk, facts: JSON) -> None:
        self._sdk = sdk
        self._facts = facts
        self._answers: dict[str, Answer] = {}

    def make(self, call: JSON) -> Answer:
        fields = ("path_values", "query", "json_query", "header", "body")
        sent = {**call, **{field: self._known(call[field]) for field in fields}}
        answer = self._sdk.send(sent, self._facts["callers"][call["by"]])
        self._answers[call["name"]] = answer
        about = f"{call['operation']} by {call['by']}: {answer}"
        assert answer.status == call["status"], about
        if call["answer_schema"]:
            assert type(answer.record) is self._sdk.schema(call["answer_schema"]), about
        for name, value in call["headers"].items():
            assert answer.headers.get(name.lower()) == value, about
        for steps, expected in call["facts"]:
            try:
                self._check(answer.record, steps, expected)
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as e:
                raise AssertionError(f"{steps} is not {expected}: {e!r}\n{about}") from e
        return answer

    def _check(self, record: Any, steps: list[list[Any]], expected: Any) -> None:
        if expected == {"absent": True}:
            *steps, (_, name) = steps
            assert self._sdk.is_absent(self._walk(record, steps), name)
            return
        found = self._walk(record, steps)
        if not isinstance(expected, dict) or "$ref" in expected:
            assert found == self._known(expected), found
            return
        ((kind, value),) = self._known(expected).items()
        assert {
            "contains": lambda: value in found,
            "ends": lambda: found.endswith(value),
            "length": lambda: len(found) == value,
            "every": lambda: bool(found) and all(item == value for item in found),
            "is": lambda: type(found) is {"text": str, "integer": int}[value] and found != "",
        }[kind](), found

    def _walk(self, value: Any, steps: list[list[Any]]) -> Any:
        for at, (kind, *words) in enumerate(steps):
            if kind == "member":
                value = self._sdk.bare(self._sdk.member(value, *words))
            elif kind == "item":
                value = self._sdk.bare(value[words[0]])
            elif kind == "entry":
                value = self._sdk.bare(value[str(self._known(words[0]))])
            elif kind == "each":
                return [self._walk(self._sdk.bare(item), steps[at + 1 :]) for item in value]
            else:
                only, wanted = [["member", words[0]]], self._known(words[1])
                items = [self._sdk.bare(item) for item in value]
                (value,) = [item for item in items if self._walk(item, only) == wanted]
        return value

    def _known(self, node: Any) -> Any:
        """Return a value with its refs replaced by their values."""
        if isinstance(node, list):
            return [self._known(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" not in node:
            return {name: self._known(value) for name, value in node.items()}
        (_, name), *steps = node["$ref"]
        if name in self._answers:
            answer = self._answers[name]
            if steps and steps[-1][0] == "header":
                return answer.headers[steps[-1][1].lower()]
            return self._walk(answer.record, steps)
        fact = self._facts[name]
        for _, word in steps:
            fact = fact[word]
        return fact


def main(sdk: type[Any]) -> None:
    """Make all calls with an SDK, created with the document's name and the address."""
    facts, calls = (
        json.loads(Path(os.environ[name]).read_text(encoding="utf-8"))
        for name in ("SPECD_SDK_STAGE", "SPECD_SDK_CALLS")
    )
    name = os.environ["SPECD_SDK_DOCUMENT"].replace("-", "_")
    drive = Drive(sdk(name, facts["base_url"]), facts)
    for call in calls:
        drive.make(call)
