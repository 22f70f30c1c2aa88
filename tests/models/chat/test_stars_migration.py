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

BEFORE, AFTER = "0039", "0040"
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
        rows_of_stars = "SELECT user_id, message_id FROM starred_message ORDER BY 1, 2"
        stars = [(u, m) for u, m, bits in before if bits & 2]
        assert found(rows_of_stars) == stars
        assert found(copies) == before  # of the previous release, which still reads it
        # Servers of the previous release set a star, remove one, and make a starred copy.
        reader_id = people[0]
        where = f"WHERE user_id = {reader_id} AND message_id ="
        for old in (
            f"UPDATE user_message SET flags = flags + 2 {where} 1",
            f"UPDATE user_message SET flags = flags - 2 {where} 2",
            f"UPDATE user_message SET flags = flags - 1 {where} 3",
            f"DELETE FROM user_message {where} 3",
            f"DELETE FROM starred_message {where} 3",
            f"INSERT INTO user_message VALUES ({reader_id}, 3, 2 + 1024)",
        ):
            database.run(lambda session: session.execute(text(old)))  # noqa: B023
        stars = [key for key in stars if key != (reader_id, 2)] + [(reader_id, 1)]
        assert found(rows_of_stars) == sorted(stars)
        # Servers of this release say it in the table alone.
        for new in (
            f"DELETE FROM starred_message {where} 1",
            f"INSERT INTO starred_message VALUES ({reader_id}, 2)",
        ):
            database.run(lambda session: session.execute(text(new)))  # noqa: B023
        stars = found(rows_of_stars)
        move_to(database, BEFORE)
        flagged = "SELECT user_id, message_id FROM user_message WHERE flags & 2 <> 0 ORDER BY 1, 2"
        assert found(flagged) == stars
        with database.reading() as reader:
            assert not inspect(reader).has_table("starred_message")
