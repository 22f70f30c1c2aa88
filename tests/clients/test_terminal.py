"""zulip-term (PyPI, 0.7.0), unmodified, in a pseudo-terminal, together with a user of curl.

`RECORD_SCREEN` names a file for the screens.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Office
from tests.clients.installed import TERMINAL, need
from tests.clients.terminal import COLUMNS, Terminal

RIGHT, DOWN, ESCAPE, CONTROL_D = "\x1b[C", "\x1b[B", "\x1b", "\x04"
AT_ONCE_S = 1.0
pytestmark = need(TERMINAL)


class Recording:
    """Screens with titles, for a reader."""

    def __init__(self, file: str | None) -> None:
        self.is_kept = file is not None
        self.parts: list[str] = []

    def take(self, title: str, terminal: Terminal) -> None:
        frame = "-" * COLUMNS
        lines = "\n".join(terminal.lines)
        self.parts.append(f"{title}\n{frame}\n{lines}\n{frame}\n")


@pytest.fixture
def recording() -> Iterator[Recording]:
    name = os.environ.get("RECORD_SCREEN")
    recording = Recording(name)
    yield recording
    if name is not None:
        Path(name).write_text("\n".join(recording.parts))


def unread(count: int) -> str:
    """Return the line of the channel with its number of unread messages."""
    return rf"# elsinore +{count} "


def test_user_reads_and_replies(
    office: Office, recording: Recording, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    hamlet, cordelia = office.cast.hamlet, office.cast.cordelia
    first = office.say(cordelia, "Who is there?")
    with Terminal(office.configuration(hamlet)) as terminal:
        terminal.begin("Who is there")
        terminal.read(unread(1))
        recording.take("zulip-term has started.", terminal)

        second = office.say(cordelia, "Sent by curl: **live**")
        appeared_s = terminal.read("Sent by curl: live")
        terminal.read(unread(2))
        recording.take(f"curl has sent a message, which appeared in {appeared_s} s.", terminal)
        if recording.is_kept:  # by scripts/clients, which runs without other load
            assert appeared_s < AT_ONCE_S

        terminal.type(RIGHT)  # from the list of channels to the messages
        terminal.type("r", until="# elsinore +▶ ghost")
        terminal.type("Typed in a terminal", until="│Typed in a terminal")
        recording.take("The reader types a reply.", terminal)
        terminal.type(CONTROL_D, until=r"▒ Typed in a terminal", seconds=10)
        recording.take("The reply is sent, and has come back as an event.", terminal)
        said = office.newest(cordelia)[-1]
        assert (said["sender_id"], said["content"]) == (hamlet.id, "Typed in a terminal")
        assert (said["display_recipient"], said["subject"]) == ("elsinore", "ghost")

        terminal.type(ESCAPE)
        for _ in range(3):
            terminal.type(DOWN)
        terminal.read(r"# elsinore +│")
        recording.take("The reader has gone through the messages: none is unread.", terminal)

    def are_read() -> bool:
        flags = {message["id"]: message["flags"] for message in office.newest(hamlet)}
        return "read" in flags[first] and "read" in flags[second]

    assert soon(are_read)


def test_user_reacts_and_sees_edits_and_reactions_of_others(office: Office) -> None:
    hamlet, cordelia = office.cast.hamlet, office.cast.cordelia
    said = office.say(cordelia, "To thine own self be true")
    with Terminal(office.configuration(hamlet)) as terminal:
        terminal.begin("To thine own")
        terminal.type(RIGHT)
        terminal.type("+", until=":thumbs_up: You", seconds=10)
        (message,) = [it for it in office.newest(cordelia) if it["id"] == said]
        assert [(it["emoji_name"], it["user_id"]) for it in message["reactions"]] == [
            ("thumbs_up", hamlet.id)
        ]
        form = {"emoji_name": "tada"}
        office.ask(cordelia, "POST", f"/messages/{said}/reactions", data=form)
        terminal.read(":tada: Cordelia")
        form = {"content": "To thine own self be kind"}
        office.ask(cordelia, "PATCH", f"/messages/{said}", data=form)
        terminal.read("self be kind")
        terminal.lose("self be true")


def test_user_sees_presence_and_typing(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    hamlet, cordelia = office.cast.hamlet, office.cast.cordelia
    there = {"status": "active", "ping_only": "true"}
    office.ask(cordelia, "POST", "/users/me/presence", data=there)
    office.whisper(cordelia, hamlet, "A word, my lord")
    with Terminal(office.configuration(hamlet)) as terminal:
        terminal.begin("A word, my lord")
        terminal.read(
            r"│ ● Cordelia( +1)?$"
        )  # in the list of users; the text may have been read already
        terminal.type(RIGHT)
        terminal.type("S", until="Private conversation", seconds=10)
        for op, shown in (("start", "Cordelia +is typing"), ("stop", r"Help\(\?\)")):
            form = {"op": op, "to": f"[{hamlet.id}]"}
            office.ask(cordelia, "POST", "/typing", data=form)
            terminal.read(shown)

        def is_seen() -> bool:
            told = office.ask(cordelia, "GET", "/realm/presence")["presences"]
            return hamlet.email in told

        assert soon(is_seen)


def test_user_receives_events_after_the_queue_has_expired(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    """As after a night in standby."""
    othello, cordelia = office.cast.othello, office.cast.cordelia
    office.whisper(cordelia, othello, "Good night")
    with Terminal(office.configuration(othello)) as terminal:
        terminal.begin("Good night")
        gone = office.queues_of(othello)
        for queue in gone:
            office.ask(othello, "DELETE", "/events", data={"queue_id": queue})
        assert soon(lambda: office.queues_of(othello) - gone)
        office.whisper(cordelia, othello, "Good morning")
        terminal.read("Good morning")
