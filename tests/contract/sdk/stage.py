"""A new server for one drive, and a JSON file of facts about it.

A drive is a program that makes the calls of the table with a generated SDK. It reads the facts from
SPECD_SDK_STAGE and the calls from SPECD_SDK_CALLS. The server's own counters show whether it called
every operation.
"""

from __future__ import annotations

import importlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

import specs
from tests.contract.sdk.table import CALLS, calls_of, skipped_of
from tests.live.running_server import ROOT, RunningServer
from wsgi import project

DOCUMENTS = sorted(path.stem for path in CALLS.glob("*.yaml"))
GENERATED = ROOT / "build" / "sdk"
NOT_GENERATED = "the SDKs are not there: run scripts/sdk"
METHODS = ("get", "post", "put", "patch", "delete")
OPEN = {"server_settings"}
"""Tags of public operations."""
NEVER_WRONG = {"custom_emoji", "server_settings", "payment_methods", "keys"}
"""Tags of operations without input that could be invalid."""
RULED = {400, 403, 404, 409, 422}
_COUNTED = re.compile(
    r'^specd_requests_total\{operation="(\w+)",service="(\w+)",status="(\d+)"\} ([\d.]+)$', re.M
)


@dataclass(frozen=True)
class Stage:
    """A server, and the file of facts about it. `document` is the document to drive, by default the
    one with the name of the service.
    """

    service: str
    server: RunningServer
    facts: Path
    document: str = ""

    calls: Path = field(init=False)
    """The calls of the service, in order, as JSON."""

    before: Counter[tuple[str, int]] = field(init=False)
    """The calls that the stage made to set itself up."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "document", self.document or self.service)
        calls = self.facts.with_name("calls.json")
        calls.write_text(json.dumps([asdict(call) for call in calls_of(self.document)]))
        object.__setattr__(self, "calls", calls)
        object.__setattr__(self, "before", self._counted())

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables for a drive."""
        return {
            "SPECD_SDK_STAGE": str(self.facts),
            "SPECD_SDK_CALLS": str(self.calls),
            "SPECD_SDK_DOCUMENT": self.document,
        }

    def undriven(self) -> dict[str, str]:
        """Return the operations that a drive did not call, or never successfully."""
        statuses = self.statuses()
        gaps: dict[str, str] = {}
        for name in set(operation_ids(self.document)) - skipped_of(self.document):
            seen = statuses.get(name, set())
            if not any(200 <= status < 300 for status in seen):
                gaps[name] = f"answered {sorted(seen)} only" if seen else "was not called"
        return gaps

    def unrefused(self) -> dict[str, str]:
        """Return the tags with which a drive got no 401, or no error of the service's rules."""
        statuses = self.statuses()
        gaps: dict[str, str] = {}
        for tag, names in operation_ids_by_tag(self.document).items():
            seen = set().union(*(statuses.get(name, set()) for name in names))
            if tag not in OPEN and 401 not in seen:
                gaps[tag] = "no 401"
            elif tag not in NEVER_WRONG and not seen & RULED:
                gaps[tag] = "no rule was broken"
        return gaps

    def statuses(self) -> dict[str, set[int]]:
        """Return operationId -> the statuses of its responses, as counted by the server."""
        statuses: dict[str, set[int]] = {}
        for operation, status in self._counted() - self.before:
            statuses.setdefault(operation, set()).add(status)
        return statuses

    def _counted(self) -> Counter[tuple[str, int]]:
        text = httpx.get(f"{self.server.url}/metrics").text
        return Counter(
            {
                (operation, int(status)): int(float(count))
                for operation, service, status, count in _COUNTED.findall(text)
                if service == self.service
            }
        )


@contextmanager
def staged(document: str, directory: Path) -> Iterator[Stage]:
    """Yield the stage that `tests/contract/sdk/<service>_stage.py` creates, for one of its
    documents.
    """
    service = project.documents[document]
    module = importlib.import_module(f"tests.contract.sdk.{service}_stage")
    with getattr(module, f"{service}_stage")(directory) as stage:
        yield replace(stage, document=document)


def write_facts(directory: Path, facts: Mapping[str, Any]) -> Path:
    """Write the facts to the file that drives read."""
    path = directory / "stage.json"
    path.write_text(json.dumps(facts, indent=2), encoding="utf-8")
    path.chmod(0o600)
    return path


def operation_ids(document: str) -> list[str]:
    """Return every operation of a document."""
    return [name for names in operation_ids_by_tag(document).values() for name in names]


def operation_ids_by_tag(document: str) -> dict[str, list[str]]:
    """Return every operation of a document by tag."""
    tags: dict[str, list[str]] = {}
    for item in specs.load(document)["paths"].values():
        for operation in (item[method] for method in METHODS if method in item):
            tags.setdefault(operation["tags"][0], []).append(operation["operationId"])
    return tags
