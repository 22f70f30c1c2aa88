"""zulip-run-bot (PyPI: zulip_bots 0.9.1), unmodified, with bots that it brings along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.clients.conftest import Office
from tests.clients.installed import BOTS, need
from tests.clients.programs import Program
from tests.support.chat.people import Member

pytestmark = need(BOTS)
ANSWER = "beep boop"


@contextmanager
def running(office: Office, name: str, who: Member) -> Iterator[Program]:
    """The bot of that name, signed in as `who`."""
    argv = [str(BOTS), name, "--config-file", str(office.configuration(who))]
    with Program(argv, office.directory, PYTHONUNBUFFERED="1") as program:
        yield program


@pytest.fixture
def bot(office: Office) -> Iterator[Program]:
    with running(office, "helloworld", office.cast.reminder) as program:
        yield program


def test_a_bot_answers_direct_messages_and_mentions_and_reacts(
    office: Office, bot: Program, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    hamlet, reminder = office.cast.hamlet, office.cast.reminder

    def answers(kind: str) -> list[dict[str, Any]]:
        return [
            message
            for message in office.newest(hamlet)
            if (message["sender_id"], message["type"]) == (reminder.id, kind)
        ]

    def is_listening() -> bool:  # nothing says when it does
        office.whisper(hamlet, reminder, "Are you there?")
        return bool(answers("private"))

    assert soon(is_listening), bot.lines
    assert {message["content"] for message in answers("private")} == {ANSWER}

    def reactions() -> list[str]:
        return [
            reaction["emoji_name"]
            for message in office.newest(hamlet)
            if message["sender_id"] == hamlet.id
            for reaction in message["reactions"]
        ]

    assert set(soon(reactions)) == {"wave"}, bot.lines

    office.say(hamlet, "Nobody is asked.")
    office.say(hamlet, "@**Reminder** Are you here?")
    assert soon(lambda: answers("stream")), bot.lines
    (said,) = answers("stream")
    assert (said["content"], said["subject"]) == (ANSWER, "ghost")


def test_a_bot_that_a_person_made_keeps_its_state(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    """It counts, and edits its own message."""
    hamlet = office.cast.hamlet
    made = office.ask(
        hamlet, "POST", "/bots", data={"full_name": "Counter", "short_name": "counter"}
    )
    bot = Member(
        made["user_id"], "counter-bot@127.0.0.1", "Counter", 400, made["api_key"], "127.0.0.1"
    )

    def stored() -> dict[str, str]:
        return dict(office.ask(bot, "GET", "/bot_storage")["storage"])

    def answers() -> list[str]:
        said = office.newest(hamlet)
        return [message["content"] for message in said if message["sender_id"] == bot.id]

    with running(office, "incrementor", bot) as program:
        assert soon(lambda: stored().keys() == {"number", "message_id"}), program.lines

        def is_counting() -> bool:  # nothing says when it listens
            office.whisper(hamlet, bot, "Count.")
            return bool(answers())

        assert soon(is_counting), program.lines
        before = int(stored()["number"])
        office.whisper(hamlet, bot, "Count.")
        assert soon(lambda: int(stored()["number"]) > before), program.lines
        assert soon(lambda: answers() == [stored()["number"]]), program.lines
