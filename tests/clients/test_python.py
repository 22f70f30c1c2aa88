"""The official Python client (PyPI: zulip 0.9.1), unmodified: a script that receives events."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zulip

from tests.clients.conftest import PATIENCE_S, Office


class Enough(Exception):
    """Ends a client that would otherwise run forever."""


def test_script_receives_each_event(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    """`call_on_each_event` requests all types of events. tests/live uses `call_on_each_message`."""
    hamlet, cordelia = office.cast.hamlet, office.cast.cordelia
    client = zulip.Client(config_file=str(office.configuration(hamlet)))
    events: list[dict[str, Any]] = []

    def hear(event: dict[str, Any]) -> None:
        events.append(event)
        if event["type"] == "message" and "Enough" in event["message"]["content"]:
            raise Enough

    def listen() -> None:
        with suppress(Enough):
            client.call_on_each_event(hear)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()

    def is_listening() -> bool:  # the program does not report when it listens
        office.say(cordelia, "Do you listen?")
        return bool(events)

    assert soon(is_listening)
    said = office.say(cordelia, "Wherefore?")
    office.ask(cordelia, "PATCH", f"/messages/{said}", data={"content": "Why?"})
    office.ask(cordelia, "DELETE", f"/messages/{said}", data={})
    office.say(cordelia, "Enough")
    listener.join(PATIENCE_S)
    assert not listener.is_alive()

    def is_about(event: dict[str, Any]) -> bool:
        return said in (event.get("message_id"), event.get("message", {}).get("id"))

    about = [event["type"] for event in events if is_about(event)]
    assert about == ["message", "update_message", "delete_message"]
    ids = [event["id"] for event in events]
    assert ids == sorted(set(ids))
