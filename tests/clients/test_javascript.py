"""zulip-js (npm, 2.1.0), unmodified: a program prints the events that it receives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Office
from tests.clients.installed import NODE, need
from tests.clients.programs import Program

PACKAGE = NODE / "node_modules/zulip-js"
pytestmark = need(PACKAGE)
_LISTEN = Path(__file__).with_name("listen.cjs")


@pytest.fixture
def listener(office: Office) -> Iterator[Program]:
    argv = ["node", str(_LISTEN), str(office.configuration(office.cast.hamlet))]
    with Program(argv, office.directory, NODE_PATH=str(PACKAGE.parent)) as program:
        yield program


def test_script_receives_each_event(
    office: Office, listener: Program, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    def told(kind: str) -> list[dict[str, Any]]:
        events = [json.loads(line) for line in listener.lines]
        return [event for event in events if event["type"] == kind]

    (registered,) = soon(lambda: told("registered"))
    assert registered["queue"]["result"] == "success", registered

    def is_listening() -> bool:
        office.say(office.cast.cordelia, "Do you listen?")
        return bool(told("message"))

    assert soon(is_listening), listener.lines
    office.say(office.cast.cordelia, "**Enough**")

    def texts() -> list[str]:
        return [event["message"]["content"] for event in told("message")]

    assert soon(lambda: "**Enough**" in texts())
    assert set(texts()) == {"Do you listen?", "**Enough**"}
    ids = [event["message"]["id"] for event in told("message")]
    assert ids == list(range(ids[0], ids[-1] + 1)), "each once and in order"
