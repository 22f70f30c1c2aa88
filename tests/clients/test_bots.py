"""zulip-run-bot (PyPI: zulip_bots 0.9.1), unmodified, with bots from the package."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.clients.conftest import CHANNEL, PATIENCE_S, Office
from tests.clients.installed import BOTS, need
from tests.clients.programs import Program
from tests.support.chat.people import Member

pytestmark = need(BOTS)
ANSWER = "beep boop"


@contextmanager
def running(office: Office, name: str, who: Member, *more: str) -> Iterator[Program]:
    """Run the bot of that name, signed in as `who`."""
    argv = [str(BOTS), name, "--config-file", str(office.configuration(who)), *more]
    with Program(argv, office.directory, PYTHONUNBUFFERED="1") as program:
        yield program


@pytest.fixture
def bot(office: Office) -> Iterator[Program]:
    with running(office, "helloworld", office.cast.reminder) as program:
        yield program


def test_bot_answers_direct_messages_and_mentions_and_reacts(
    office: Office, bot: Program, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    hamlet, reminder = office.cast.hamlet, office.cast.reminder

    def answers(kind: str) -> list[dict[str, Any]]:
        return [
            message
            for message in office.newest(hamlet)
            if (message["sender_id"], message["type"]) == (reminder.id, kind)
        ]

    def is_listening() -> bool:  # the program does not report when it listens
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


class Talk:
    """Messages between Hamlet and a bot that he has created, while its program runs."""

    def __init__(self, office: Office, soon: Callable[[Callable[[], Any]], Any], name: str) -> None:
        self._office, self._soon, self._name = office, soon, name
        form = {"full_name": name, "short_name": name}
        made = office.ask(office.cast.hamlet, "POST", "/bots", data=form)
        email = f"{name}-bot@127.0.0.1"
        self.bot = Member(made["user_id"], email, name, 400, made["api_key"], "127.0.0.1")
        self._greeting = ""

    @contextmanager
    def running(self, *more: str) -> Iterator[None]:
        """Run the bot's program with these arguments until the end of the block, after its first
        reply.
        """
        with running(self._office, self._name, self.bot, *more) as program:
            self._greeting = ""
            # The program does not report when it listens, and it ends after too many messages.
            heard = self._soon(lambda: self._try("help", patience_s=2))
            assert heard, program.lines
            self._greeting = heard[0]
            yield

    def ask(self, question: str) -> str:
        """Return the reply."""
        (answer,) = self._try(question, patience_s=PATIENCE_S)
        return answer

    def stored(self) -> dict[str, Any]:
        """Return the bot's stored values."""
        kept = self._office.ask(self.bot, "GET", "/bot_storage")["storage"]
        return {key: json.loads(value) for key, value in kept.items()}

    def said(self, after: int) -> list[str]:
        """Return the bot's messages since that message, except its greeting."""
        return [
            message["content"]
            for message in self._office.newest(self._office.cast.hamlet)
            if (message["sender_id"], message["id"] > after) == (self.bot.id, True)
            and message["content"] != self._greeting
        ]

    def _try(self, question: str, *, patience_s: float) -> list[str]:
        asked = self._office.whisper(self._office.cast.hamlet, self.bot, question)
        ends_at = time.monotonic() + patience_s
        while not (said := self.said(asked)) and time.monotonic() < ends_at:
            time.sleep(0.05)
        return said


def test_bot_stores_files(office: Office, soon: Callable[[Callable[[], Any]], Any]) -> None:
    """A restarted bot starts without state, because its library only looks for keys in memory."""
    talk, name = Talk(office, soon, "virtual_fs"), office.cast.hamlet.email
    with talk.running():
        assert talk.ask("mkdir plays") == f"{name}:\ndirectory created"
        assert talk.ask("write plays/hamlet Words, words") == f"{name}:\nfile written"
        assert talk.ask("read plays/hamlet") == f"{name}:\nWords, words"
    (kept,) = talk.stored().values()
    assert kept["/plays/hamlet"]["content"] == "Words, words"


def test_bot_uploads_a_file(office: Office, soon: Callable[[Callable[[], Any]], Any]) -> None:
    talk, file = Talk(office, soon, "file_uploader"), office.directory / "letter.txt"
    file.write_text("Get thee to a nunnery")
    with talk.running():
        said = talk.ask(str(file))
    assert said.startswith("[letter.txt](/user_uploads/")
    path = said.removeprefix("[letter.txt](").removesuffix(")")
    link = office.ask(office.cast.hamlet, "GET", path)["url"]
    assert httpx.get(office.url + link, timeout=30).text == file.read_text()


def test_bot_writes_to_the_channel_of_its_configuration(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    talk, hamlet = Talk(office, soon, "followup"), office.cast.hamlet
    configuration = office.directory / "followup.conf"
    configuration.write_text(f"[followup]\nstream = {CHANNEL}\n")
    with talk.running("--bot-config-file", str(configuration)):
        assert talk.ask("Speak to the ghost") == f"from {hamlet.email}: Speak to the ghost"
    said = office.newest(hamlet, 1)[-1]
    assert (said["display_recipient"], said["subject"]) == (CHANNEL, hamlet.email)


def test_bot_restores_its_state_after_a_restart(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    """It numbers the reports."""
    talk = Talk(office, soon, "incident")
    with talk.running():
        assert "Incident: fire\n" in talk.ask("new fire")
        assert "TICKET0002" in talk.ask("new flood")
    assert talk.stored() == {"ticket_id": 2}
    with talk.running():
        assert "TICKET0003" in talk.ask("new ghost")
        assert talk.ask("answer TICKET0003 4") == "Incident TICKET0003\n status = escalate"
    assert talk.stored() == {"ticket_id": 3}


def test_generic_bot_keeps_its_state(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    """It counts and edits its own message."""
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

        def is_counting() -> bool:  # the program does not report when it listens
            office.whisper(hamlet, bot, "Count.")
            return bool(answers())

        assert soon(is_counting), program.lines
        before = int(stored()["number"])
        office.whisper(hamlet, bot, "Count.")
        assert soon(lambda: int(stored()["number"]) > before), program.lines
        assert soon(lambda: answers() == [stored()["number"]]), program.lines
