"""The calls of the table as a TypeScript program.

All calls, sent values and read positions are literals, so that `tsc --strict` checks the SDK's
types.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tests.contract.sdk.paths import EACH, ENTRY, HEADER, ITEM, MEMBER, REF, Step
from tests.contract.sdk.table import Call
from wsgi import project

HERE = "../../../tests/contract/sdk/typescript"
"""The path from the programs, which are next to the directories of the documents' SDKs."""
HELPERS = (
    "type Got, at, contains, each, empty, ends, every, header, isInteger, isText, length, nth, "
    "only, refused, same, success"
)
MATCHERS = {"contains": "contains", "ends": "ends", "length": "length", "every": "every"}
KINDS = {"text": "isText", "integer": "isInteger"}


class Writer(ABC):
    """The notation of one SDK. `head` defines `signIn(caller)` with the SDK of a document."""

    sdk: str
    """The directory of the SDK."""
    head: str

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    @abstractmethod
    def call(self, call: Call) -> str:
        """Return the expression of a call."""

    def member(self, name: str) -> str:
        """Return the SDK's name of a member or a parameter."""
        return name

    def outcome(self, call: Call) -> str:
        """Return the expression that awaits a call and unpacks its response."""
        with_record = "success" if call.is_success else "refused"
        how = with_record if call.has_record else "empty"
        return f"await {how}({call.status}, {self.call(call)})"

    def program(self, document: str, calls: Sequence[Call]) -> str:
        """Return the source of a drive that makes the calls in order."""
        self._known = {}
        callers = {call.by for call in calls}
        lines = [
            f'import {{ {HELPERS} }} from "{HERE}/answers";',
            f'import type {{ Facts }} from "{HERE}/facts/{project.documents[document]}";',
            f'import {{ type Caller, readFacts }} from "{HERE}/stage";',
            self.head.replace("DOCUMENT", document),
            "const facts = readFacts<Facts>();",
            "const by = {",
            *(f"  {name}: signIn(facts.callers.{name}!)," for name in sorted(callers)),
            "};",
            "",
            "async function main(): Promise<void> {",
            *(f"  {line}" for at, call in enumerate(calls) for line in self._lines(at, call)),
            "}",
            "",
            "main();",
        ]
        return "\n".join(lines) + "\n"

    def value(self, node: Any) -> str:
        """Return a sent or expected value."""
        if isinstance(node, Mapping) and REF in node:
            return self._known_value(node[REF])
        if isinstance(node, Mapping):
            members = (f"{json.dumps(self.member(n))}: {self.value(v)}" for n, v in node.items())
            return f"{{ {', '.join(members)} }}"
        if isinstance(node, list):
            return f"[{', '.join(map(self.value, node))}]"
        return json.dumps(node)

    def json_texts(self, call: Call) -> dict[str, str]:
        """Return the query parameters with JSON text, by name."""
        return {name: f"JSON.stringify({self.value(v)})" for name, v in call.json_query.items()}

    def query(self, call: Call) -> str:
        """Return the query as an object, or an empty text if there is none."""
        written = {name: self.value(v) for name, v in call.query.items()} | self.json_texts(call)
        parts = ", ".join(f"{json.dumps(name)}: {text}" for name, text in written.items())
        return f"{{ {parts} }}" if parts else ""

    def _lines(self, at: int, call: Call) -> list[str]:
        answer = f"answer{at}"
        lines = [f"const {answer} = {self.outcome(call)};"]
        self._known[call.name] = answer
        for name, value in call.headers.items():
            lines.append(f"same(header({answer}, {json.dumps(name)}), {json.dumps(value)});")
        for steps, expected in call.facts:
            lines.append(self._fact(self._walk(f"{answer}.data", steps), expected))
        return lines

    def _fact(self, found: str, expected: Any) -> str:
        if not isinstance(expected, Mapping) or REF in expected:
            return f"same({found}, {self.value(expected)});"
        ((kind, value),) = expected.items()
        if kind == "absent":
            return f"same({found}, undefined);"
        if kind == "is":
            return f"{KINDS[value]}({found});"
        return f"{MATCHERS[kind]}({found}, {self.value(value)});"

    def _walk(self, found: str, steps: Sequence[Step]) -> str:
        for at, (kind, *words) in enumerate(steps):
            if kind == MEMBER:
                found = f"at({found}, {json.dumps(self.member(words[0]))})"
            elif kind == ITEM:
                found = f"nth({found}, {words[0]})"
            elif kind == ENTRY:
                found = f"at({found}, String({self.value(words[0])}))"
            elif kind == EACH:
                return f"each({found}, (item) => {self._walk('item', steps[at + 1 :])})"
            else:
                wanted = self._walk("item", [[MEMBER, words[0]]])
                found = f"only({found}, (item) => {wanted} === {self.value(words[1])})"
        return found

    def _known_value(self, path: Sequence[Step]) -> str:
        (_, name), *steps = path
        if name not in self._known:
            return ".".join(["facts", name, *(word for _, word in steps)])
        answer = self._known[name]
        if steps and steps[-1][0] == HEADER:
            return f"header({answer}, {json.dumps(steps[-1][1])})"
        return self._walk(f"{answer}.data", steps)


def camel(name: str) -> str:
    """Return `Idempotency-Key` and `idempotency_key` as `idempotencyKey`."""
    first, *rest = name.replace("-", "_").split("_")
    return first[:1].lower() + first[1:] + "".join(word[:1].upper() + word[1:] for word in rest)
