"""Makes the calls of the table by one SDK and judges what it answers.

`SPECD_SDK_STAGE` is the file of facts about the server, `SPECD_SDK_CALLS` that of the calls (as
tests/contract/sdk/table.py makes them). What is particular to an SDK is an `Sdk`.
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
    """What a call got. Names of headers are in lower case. `record` is a typed object, None where
    there is no body.
    """

    status: int
    headers: Mapping[str, str]
    record: Any


class Sdk(Protocol):
    """How one generator's SDK is used."""

    def send(self, call: JSON, caller: JSON) -> Answer:
        """Make a call; its refs are values. A refusal is an answer as well."""

    def schema(self, name: str) -> type:
        """The class of a schema of the document."""

    def member(self, record: Any, name: str) -> Any:
        """The member of a record by its name in the document; None where it is absent.

        Raises AssertionError where the value is not of the type that the class says.
        """

    def bare(self, value: Any) -> Any:
        """A value without the wrapper that a choice of types has."""

    def is_absent(self, record: Any, name: str) -> bool: ...


class Drive:
    """A walk through the table. Raises AssertionError where an answer is not what is expected."""

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
                self._judge(answer.record, steps, expected)
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as e:
                raise AssertionError(f"{steps} is not {expected}: {e!r}\n{about}") from e
        return answer

    def _judge(self, record: Any, steps: list[list[Any]], expected: Any) -> None:
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
        """A value with what its refs stand for in their place."""
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
    """Drive everything by an SDK, which is made with the document's name and the address."""
    facts, calls = (
        json.loads(Path(os.environ[name]).read_text(encoding="utf-8"))
        for name in ("SPECD_SDK_STAGE", "SPECD_SDK_CALLS")
    )
    name = os.environ["SPECD_SDK_DOCUMENT"].replace("-", "_")
    drive = Drive(sdk(name, facts["base_url"]), facts)
    for call in calls:
        drive.make(call)
