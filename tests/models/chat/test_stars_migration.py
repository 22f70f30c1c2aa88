"""Stars were a flag of copies: migrations carry them over, and back."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import insert, inspect, text
from sqlalchemy.orm import Session

from models import migrate
from models.chat.tables import Message, UserMessage
from models.database import Database
from tests.support.chat.channels import make_channel
from tests.support.chat.people import CAST_MADE_AT, make_cast
from tests.support.postgres import PostgresServer

BEFORE, AFTER = "0038", "0039"
FLAGS = {(0, 1): 0, (0, 2): 2, (0, 3): 3, (1, 1): 2 | 512, (1, 2): 1, (1, 3): 2048}
"""Who (one of two) and which message (one of three): flags with stars among them."""


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of nobody else's: its tables change."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/chat.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url_of(name)
    server.drop(name)


def move_to(database: Database, revision: str) -> None:
    def work(session: Session) -> None:
        config = migrate._config("chat")
        config.attributes["connection"] = session.connection()
        (command.upgrade if revision == AFTER else command.downgrade)(config, revision)

    database.run(work)


def test_stars_are_kept_up_and_down(url: str) -> None:
    migrate.upgrade(url, "chat")
    with closing(Database(url)) as database:

        def fill(session: Session) -> list[int]:
            cast = make_cast(session, now=CAST_MADE_AT)
            channel = make_channel(session, cast, "Denmark")
            message = {
                "realm_id": cast.realm_id,
                "sender_id": cast.hamlet.id,
                "channel_id": channel,
                "content": "x",
                "rendered_content": "x",
                "sent_at": CAST_MADE_AT,
            }
            session.execute(insert(Message), [{**message, "id": n} for n in (1, 2, 3)])
            return [cast.hamlet.id, cast.othello.id]

        people = database.run(fill)
        flags = {(people[who], message): bits for (who, message), bits in FLAGS.items()}
        rows = [{"user_id": u, "message_id": m, "flags": bits} for (u, m), bits in flags.items()]
        move_to(database, BEFORE)
        database.run(lambda session: session.execute(insert(UserMessage), rows))

        def found(sql: str) -> list[tuple[int, ...]]:
            with database.reading() as reader:
                return [tuple(row) for row in reader.execute(text(sql))]

        copies = "SELECT user_id, message_id, flags FROM user_message ORDER BY user_id, message_id"
        before = found(copies)
        assert before == sorted((*key, bits) for key, bits in flags.items())
        move_to(database, AFTER)
        assert found(copies) == [(u, m, bits & ~2) for u, m, bits in before]
        stars = found("SELECT user_id, message_id FROM starred_message ORDER BY 1, 2")
        assert stars == [(u, m) for u, m, bits in before if bits & 2]
        with database.reading() as reader:
            indexes = {index["name"] for index in inspect(reader).get_indexes("user_message")}
        assert "ix_user_message_starred" not in indexes
        move_to(database, BEFORE)
        assert found(copies) == before
        with database.reading() as reader:
            indexes = {index["name"] for index in inspect(reader).get_indexes("user_message")}
            assert "ix_user_message_starred" in indexes
            assert not inspect(reader).has_table("starred_message")
