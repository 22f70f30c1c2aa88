"""A realm of 1,000 people and 200 channels, with any number of messages loaded by SQL.

The service's functions create people, channels and groups. One statement each creates
subscriptions, messages, copies, topics and the search index, with the same result as sending.

- Every channel has 100 subscribers; `reader`, the measured user, subscribes to all channels.
- `hall` has 10,000 topics of one message each; the topic `act` of `stage` has 1,000 messages; the
  other 198 channels share the remaining messages, in 50 topics each.
- The newest 20,000 messages have a copy for every subscriber of their channel, older ones only for
  `reader`: the others joined later, as is usual in a growing realm. There are three million
  copies.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from models.chat.channels.creation import NewChannel, create_channels
from models.chat.identity.actors import find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import Role
from models.chat.messages import search
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from models.chat.tables import Channel, Message, User
from specd.db import Database

HOST = "127.0.0.1"
SECRET = b"the secret of the chat benchmark, 32 bytes and more"
PEOPLE, CHANNELS, SUBSCRIBERS = 1_000, 200, 100
HALL_TOPICS, ACT_MESSAGES, TOPICS_ELSEWHERE = 10_000, 1_000, 50
RECENT = 20_000
AT_ONCE = 1_000_000
LEAST_MESSAGES = HALL_TOPICS + ACT_MESSAGES
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stage:
    """The people and channels that the load uses."""

    email: str
    api_key: str
    other_email: str
    hall_id: int
    stage_id: int
    crowd: tuple[int, ...]


def found(url: str) -> Stage:
    """Create people, channels and subscriptions in a migrated, empty database."""
    database = Database(url, lock_timeout_s=60)
    try:
        return database.run(_found)
    finally:
        database.dispose()


def _found(session: Session) -> Stage:
    keys = KeyMaker(SECRET)
    realm, owner, _ = create_realm(
        session, keys, name="Benchmark", host=HOST, owner_email="owner@bench.example",
        owner_name="Owner", now=BEGAN,
    )  # fmt: skip
    view = access_realm_by_id(session, realm.id)
    people: list[tuple[User, str]] = []
    for number in range(1, PEOPLE):
        people.append(
            create_user(
                session, keys, realm=view, email=f"user{number}@bench.example",
                full_name=f"User {number}", role=Role.MEMBER, now=BEGAN,
            )
        )  # fmt: skip
    actor = find_actor(session, owner.id)
    assert actor is not None
    names = ["hall", "stage", *(f"channel {number}" for number in range(CHANNELS - 2))]
    described = [(name, "") for name in names]
    create_channels(session, actor, described, NewChannel(), {}, now=BEGAN)
    session.flush()
    ids = dict(session.execute(select(Channel.name, Channel.id)).all())
    reader, api_key = people[0]
    session.execute(
        text(
            "INSERT INTO subscription (channel_id, user_id, is_active, color, is_muted, pin_to_top,"
            " subscribed_at, joined_after_id)"
            " SELECT c.id, u.id, true, '#76ce90', false, false, :at, 0"
            ' FROM channel c JOIN "user" u ON u.realm_id = c.realm_id AND NOT u.is_system_bot'
            " WHERE (u.id + c.id) % :every = 0 OR u.id = :reader"
        ),
        {
            "at": round(BEGAN.timestamp() * 1000),
            "every": PEOPLE // SUBSCRIBERS,
            "reader": reader.id,
        },
    )
    return Stage(
        email=reader.delivery_email,
        api_key=api_key,
        other_email=people[1][0].delivery_email,
        hall_id=ids["hall"],
        stage_id=ids["stage"],
        crowd=tuple(user.id for user, _ in people[100:200]),
    )


def fill(url: str, stage: Stage, messages: int) -> None:
    """Add `messages` messages (at least LEAST_MESSAGES) with their copies, topics and search index.

    A unit of work handles a million, because a single one would fill the disk with SQLite's log.
    """
    database = Database(url, lock_timeout_s=60)
    try:
        for first in range(1, messages + 1, AT_ONCE):
            last = min(messages, first + AT_ONCE - 1)
            database.run(lambda session: _fill(session, stage, messages, first, last))  # noqa: B023
        database.run(lambda session: _complete(session, messages))
    finally:
        database.dispose()


def _fill(session: Session, stage: Stage, messages: int, first: int, last: int) -> None:
    """Add the messages from `first` to `last`, of `messages` in total."""
    connection = session.connection()
    is_postgres = connection.dialect.name == "postgresql"
    if is_postgres:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        connection.execute(text("SET LOCAL session_replication_role = replica"))  # no foreign keys
    series = (
        "generate_series(CAST(:since AS bigint), :last) AS series(n)"
        if is_postgres
        else "(WITH RECURSIVE series(n) AS (SELECT :since UNION ALL SELECT n + 1 FROM series"
        " WHERE n < :last) SELECT n FROM series)"
    )
    facts: dict[str, Any] = {
        "since": first,
        "last": last,
        "rest": messages - LEAST_MESSAGES,
        "upto_hall": messages - ACT_MESSAGES,
        "hall": stage.hall_id,
        "stage": stage.stage_id,
        "first": min(stage.hall_id, stage.stage_id) + 2,
        "elsewhere": CHANNELS - 2,
        "topics": TOPICS_ELSEWHERE,
        "sender": stage.crowd[0],
        "began": round(BEGAN.timestamp() * 1000),
        "recent": messages - RECENT,
        "reader": _reader_id(session, stage),
    }

    def run(statement: str, *names: str) -> None:
        connection.execute(text(statement), {name: facts[name] for name in names})

    topic = (
        "CASE WHEN n <= :rest THEN 'topic ' || (n / :elsewhere % :topics)"
        " WHEN n <= :upto_hall THEN 'topic ' || n ELSE 'act' END"
    )
    run(
        "INSERT INTO message (id, realm_id, sender_id, channel_id, topic, topic_key, content,"
        " rendered_content, sent_at, has_link, has_image, has_attachment, client)"
        f" SELECT n, 1, :sender + n % 100, CASE WHEN n <= :rest THEN :first + n % :elsewhere"
        f" WHEN n <= :upto_hall THEN :hall ELSE :stage END, {topic}, {topic},"
        " 'Message ' || n || ' of the benchmark', '<p>Message ' || n || ' of the benchmark</p>',"
        f" :began + n * 1000, false, false, false, 'benchmark' FROM {series}",
        "sender", "rest", "first", "elsewhere", "upto_hall", "hall", "stage", "topics", "began",
        "since", "last",
    )  # fmt: skip
    run(
        "INSERT INTO user_message (user_id, message_id, flags) SELECT s.user_id, m.id, 1"
        " FROM message m JOIN subscription s ON s.channel_id = m.channel_id"
        " WHERE m.id BETWEEN :since AND :last AND (m.id > :recent OR s.user_id = :reader)",
        "since", "last", "recent", "reader",
    )  # fmt: skip
    said = select(Message.id, Message.topic, Message.content).where(Message.id.between(first, last))
    if is_postgres:
        rows = [(row[0], row[1], row[2]) for row in session.execute(said)]
        driver = connection.connection.driver_connection
        assert isinstance(driver, psycopg.Connection)
        with driver.cursor().copy("COPY message_search (message_id, vector) FROM STDIN") as copy:
            for number, topic_name, content in rows:
                copy.write_row((number, search.vector_of(topic_name, content)["vector"]))
    else:
        for some in session.execute(said).partitions(5_000):
            search.index_messages(session, [(row[0], row[1], row[2]) for row in some])


def _complete(session: Session, messages: int) -> None:
    """Add topics and the first messages of channels, and update the planner's statistics."""
    connection = session.connection()
    is_postgres = connection.dialect.name == "postgresql"
    if is_postgres:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(
        text(
            "INSERT INTO topic (channel_id, topic_key, name, max_id)"
            " SELECT channel_id, topic_key, topic_key, max(id) FROM message GROUP BY 1, 2, 3"
        )
    )
    connection.execute(
        text(
            "UPDATE channel SET first_message_id ="
            " (SELECT min(m.id) FROM message m WHERE m.channel_id = channel.id)"
        )
    )
    count = (
        "SELECT setval(pg_get_serial_sequence('message', 'id'), :total)"
        if is_postgres
        else "UPDATE sqlite_sequence SET seq = :total WHERE name = 'message'"
    )
    connection.execute(text(count), {"total": messages})
    connection.execute(text("ANALYZE"))


def _reader_id(session: Session, stage: Stage) -> int:
    return session.execute(select(User.id).where(User.delivery_email == stage.email)).scalar_one()
