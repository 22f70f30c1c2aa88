"""Names cannot add a line, a header or a link to the template of a mail."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from adapters.mail.mailer import Mail, compose
from models.chat.tables import Realm, User
from specd.db import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.mail import mails, token_of
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

ROOT = Path(__file__).parents[3]
BREAKS = ["\r\n", "\n\n", "\r", "\u2028", "\x85", "\x0b", "\r\nBcc: all@acme.example\r\n\r\n"]


def asking(chat: ChatClient, boss: ChatClient, database: Database) -> None:
    assert chat.patch("/settings", email="hamlet@elsinore.example")["result"] == "success"


def changing(chat: ChatClient, boss: ChatClient, database: Database) -> None:
    asking(chat, boss, database)
    path = f"/accounts/confirm_new_email/{token_of(database)}"
    assert chat.acting_as(None).post(path)["result"] == "success"


def deactivating(chat: ChatClient, boss: ChatClient, database: Database) -> None:
    me = chat.get("/users/me")["user_id"]
    answer = boss.delete(f"/users/{me}", deactivation_notification_comment="Bye")
    assert answer["result"] == "success"


def inviting(chat: ChatClient, boss: ChatClient, database: Database) -> None:
    form = {"invitee_emails": "rosencrantz@acme.example", "stream_ids": []}
    assert chat.post("/invites", **form)["result"] == "success"


Act = Callable[[ChatClient, ChatClient, Database], None]
ACTS: dict[str, tuple[str, Act]] = {
    "asking": ("email_changes", asking),
    "changing": ("email_changes", changing),
    "deactivating": ("deactivation", deactivating),
    "inviting": ("sending", inviting),
}


def test_every_mail_is_listed() -> None:
    """A new mail needs a test of its quotations."""
    senders = {
        path.stem
        for folder in ("models", "handlers", "workers")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "enqueue_mails"
    } - {"outbox"}
    assert senders == {module for module, _ in ACTS.values()}


@pytest.mark.parametrize("act", ACTS)
def test_names_add_no_lines(
    act: str,
    chat: ChatClient,
    as_cordelia: ChatClient,
    cast: Cast,
    chat_database: Database,
    clock: FrozenClock,
) -> None:
    """Even if the database contains all line breaks."""
    name = "Hamlet" + "x".join(BREAKS) + "!"

    def spoil(session: Any) -> None:
        session.execute(update(User).where(User.id == cast.hamlet.id).values(full_name=name))
        session.execute(
            update(Realm)
            .where(Realm.id == cast.realm_id)
            .values(name="Acme\r\nBcc: all\u2028x\x85y")
        )

    chat_database.run(spoil)
    ACTS[act][1](chat, as_cordelia, chat_database)
    written = mails(chat_database)
    assert written
    shown = " ".join(name.split())
    for to, subject, text in written:
        assert len(subject.splitlines()) == 1
        lines = text.splitlines()
        assert lines[0] == ("Hi there," if act == "inviting" else f"Hi {shown},")
        assert not [line for line in lines if line.startswith(("Bcc", "x", "!"))]
        mail = Mail("key", "specd <a@b.example>", to, subject, text, clock.now())
        message = compose(mail)
        assert message["Bcc"] is None
        assert message.get_all("To") == [to]
