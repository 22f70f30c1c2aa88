"""zulip-run-bot (PyPI: zulip_bots 0.9.1), unmodified, with the bot that it calls helloworld."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.clients.conftest import Office
from tests.clients.installed import BOTS, need
from tests.clients.programs import Program

pytestmark = need(BOTS)
ANSWER = "beep boop"


@pytest.fixture
def bot(office: Office) -> Iterator[Program]:
    configuration = office.configuration(office.cast.reminder)
    argv = [str(BOTS), "helloworld", "--config-file", str(configuration)]
    with Program(argv, office.directory, PYTHONUNBUFFERED="1") as program:
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
