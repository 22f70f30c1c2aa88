"""Messages whose objects were made before: whatever has changed since, an answer has it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, update
from sqlalchemy.sql import Executable

from models.chat.identity.roles import BotType, EmailVisibility, Role
from models.chat.messages import view
from models.chat.messages.kept import KeptMessages
from models.chat.tables import Channel, Linkifier, Message, Realm, User
from models.database import Database
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import open_channel, write
from tests.support.chat.people import Cast

LATER = datetime(2031, 5, 17, tzinfo=UTC)
Answers = list[dict[str, Any]]


@pytest.fixture
def readers(chat: ChatClient, as_iago: ChatClient, as_polonius: ChatClient) -> list[ChatClient]:
    """The author of what is read, an administrator and a guest, who see addresses differently."""
    return [chat, as_iago, as_polonius]


@pytest.fixture
def channel(
    chat: ChatClient, readers: list[ChatClient], cast: Cast, chat_database: Database
) -> int:
    """With a message in a topic and one in the topic without a name, of an author whose address
    administrators see.
    """
    hidden = _hamlet(cast, email_address_visibility=EmailVisibility.ADMINISTRATORS)
    chat_database.run(lambda session: session.execute(hidden))
    channel = open_channel(chat, "stage", principals=[cast.hamlet.id, cast.polonius.id])
    for topic in ("ghost", ""):
        write(chat, channel, topic)
    return channel


def listed(readers: list[ChatClient], channel: int) -> Answers:
    """What each of them sees, as each kind of client asks for it."""
    asked = {"anchor": "oldest", "num_before": 0, "num_after": 10}
    narrow = [{"operator": "channel", "operand": channel}]
    kinds: list[dict[str, object]] = [
        {},
        {"apply_markdown": False},
        {"client_gravatar": False},
        {"allow_empty_topic_name": True},
    ]
    return [
        reader.get("/messages", **asked, narrow=narrow, **kind)
        for reader in readers
        for kind in kinds
    ]


def made_anew(patch: pytest.MonkeyPatch, readers: list[ChatClient], channel: int) -> Answers:
    """The same while nothing is kept."""
    with patch.context() as context:
        context.setattr(view, "_KEPT", KeptMessages(most_bytes=0))
        return listed(readers, channel)


CHANGES: dict[str, Callable[[Cast, int], Executable]] = {
    "content": lambda cast, channel: update(Message).values(content="/me nods"),
    "rendered": lambda cast, channel: update(Message).values(rendered_content="<p>Other.</p>"),
    "topic": lambda cast, channel: update(Message).values(topic="grave"),
    "sent": lambda cast, channel: update(Message).values(sent_at=LATER),
    "edited": lambda cast, channel: update(Message).values(last_edit_at=LATER),
    "moved": lambda cast, channel: update(Message).values(last_moved_at=LATER),
    "client": lambda cast, channel: update(Message).values(client="other"),
    "sender": lambda cast, channel: update(Message).values(sender_id=cast.iago.id),
    "channel": lambda cast, channel: (
        update(Channel).where(Channel.id == channel).values(name="Stage")
    ),
    "name": lambda cast, channel: _hamlet(cast, full_name="Prince"),
    "email": lambda cast, channel: _hamlet(cast, delivery_email="prince@acme.example"),
    "visibility": lambda cast, channel: _hamlet(
        cast, email_address_visibility=EmailVisibility.EVERYONE
    ),
    "picture": lambda cast, channel: _hamlet(cast, avatar_version=9),
    "deleted": lambda cast, channel: _hamlet(cast, is_deleted=True),
    "bot": lambda cast, channel: _hamlet(cast, bot_type=BotType.GENERIC),
    "no topic": lambda cast, channel: update(Realm).values(empty_topic_display_name="anything"),
    "linkifier": lambda cast, channel: insert(Linkifier).values(
        realm_id=cast.realm_id, pattern="ghost", url_template="https://g.example", position=1
    ),
    "role": lambda cast, channel: update(User).values(role=Role.MEMBER),
}


def _hamlet(cast: Cast, **values: object) -> Executable:
    return update(User).where(User.id == cast.hamlet.id).values(**values)


@pytest.mark.parametrize("changed", CHANGES)
def test_whoever_changes_a_row_is_seen(
    readers: list[ChatClient],
    channel: int,
    cast: Cast,
    chat_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    changed: str,
) -> None:
    """As a server of another release would, that shares nothing but the database."""
    before = listed(readers, channel)
    assert before == listed(readers, channel) == made_anew(monkeypatch, readers, channel)
    chat_database.run(lambda session: session.execute(CHANGES[changed](cast, channel)))
    after = listed(readers, channel)
    assert after == listed(readers, channel) == made_anew(monkeypatch, readers, channel)
    assert after != before


def test_what_a_search_marks_is_in_its_answer_alone(
    readers: list[ChatClient], channel: int, chat: ChatClient
) -> None:
    before = listed(readers, channel)
    narrow = [{"operator": "search", "operand": "words"}]
    found = chat.get("/messages", anchor="newest", num_before=1, num_after=0, narrow=narrow)
    (message,) = found["messages"]
    assert message["match_content"] == '<p><span class="highlight">Words</span>.</p>'
    assert listed(readers, channel) == before
