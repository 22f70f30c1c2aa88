"""Names whose letters were decomposed (Unicode's NFD): their keys are those of composed ones."""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

from models.chat.alert_words import first_part
from models.chat.common.name_keys import composed, key_of

revision = "0009"
down_revision = "0008"
oldest = "0001"
branch_labels = None
depends_on = None

NAME_MAX = {"channel": 60, "channel_folder": 60, "user_group": 100}


def upgrade() -> None:
    for table, most in NAME_MAX.items():
        _rename(table, most)
    for user in _rows("user", "full_name", "id", form=composed):
        full_name = composed(user.full_name)[:100]
        _run('UPDATE "user" SET full_name = :name WHERE id = :id', name=full_name, id=user.id)
    _merge_topics()
    _merge_policies()
    _merge_alert_words()


def _run(statement: str, **values: object) -> sa.CursorResult[Any]:
    return op.get_bind().execute(sa.text(statement), values)


def _rows(
    table: str, text: str, *columns: str, form: Callable[[str], str] = key_of
) -> list[sa.Row[Any]]:
    """Return the rows whose text is not in its form."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    size = f"length(CAST({text} AS BLOB))" if is_sqlite else f"octet_length({text})"
    listed = ", ".join((text, *columns))
    others = f'SELECT {listed} FROM "{table}" WHERE {size} <> length({text}) ORDER BY {listed}'
    found = connection.execute(sa.text(others), execution_options={"stream_results": True})
    return [row for row in found if form(row[0]) != row[0]]


def _rename(table: str, most: int) -> None:
    """Compute the keys again. Of two names that are one now, the decomposed one gets a number."""
    for row in _rows(table, "name_key", "name", "id", "realm_id"):
        name, number = row.name, 1
        while _is_taken(table, row.realm_id, key_of(name)):
            number += 1
            name = f"{row.name[: most - len(str(number)) - 3]} ({number})"
        statement = f"UPDATE {table} SET name = :name, name_key = :key WHERE id = :id"
        _run(statement, name=name, key=key_of(name), id=row.id)


def _is_taken(table: str, realm_id: int, key: str) -> bool:
    wanted = f"SELECT id FROM {table} WHERE realm_id = :realm_id AND name_key = :key"
    return _run(wanted, realm_id=realm_id, key=key).first() is not None


def _merge_topics() -> None:
    """The topic of two has the name and the id of its newest message."""
    for row in _rows("topic", "topic_key", "channel_id", "name", "max_id"):
        key = key_of(row.topic_key)
        place = {"channel_id": row.channel_id, "old": row.topic_key, "key": key}
        of_topic = "channel_id = :channel_id AND topic_key = "
        _run(f"UPDATE message SET topic_key = :key WHERE {of_topic}:old", **place)
        other = _run(f"SELECT max_id FROM topic WHERE {of_topic}:key", **place).first()
        if other is None:
            _run(f"UPDATE topic SET topic_key = :key WHERE {of_topic}:old", **place)
            continue
        _run(f"DELETE FROM topic WHERE {of_topic}:old", **place)
        newest = f"UPDATE topic SET name = :name, max_id = :max_id WHERE {of_topic}:key"
        _run(f"{newest} AND max_id < :max_id", name=row.name, max_id=row.max_id, **place)


def _merge_policies() -> None:
    """The policy of two that a user changed last is kept."""
    for row in _rows("user_topic", "topic_key", "user_id", "channel_id", "last_updated"):
        key = key_of(row.topic_key)
        place = {"user_id": row.user_id, "channel_id": row.channel_id}
        of_user = "user_id = :user_id AND channel_id = :channel_id AND topic_key = "
        older = f"DELETE FROM user_topic WHERE {of_user}:key AND last_updated < :last_updated"
        _run(older, **place, key=key, last_updated=row.last_updated)
        if _run(f"SELECT 1 FROM user_topic WHERE {of_user}:key", **place, key=key).first() is None:
            renamed = f"UPDATE user_topic SET topic_key = :key WHERE {of_user}:old"
            _run(renamed, **place, key=key, old=row.topic_key)
        else:
            _run(f"DELETE FROM user_topic WHERE {of_user}:old", **place, old=row.topic_key)


def _merge_alert_words() -> None:
    for row in _rows("alert_word", "word_key", "id", "user_id"):
        key = key_of(row.word_key)
        values = {"user_id": row.user_id, "key": key}
        wanted = "SELECT id FROM alert_word WHERE user_id = :user_id AND word_key = :key"
        if _run(wanted, **values).first() is not None:
            _run("DELETE FROM alert_word WHERE id = :id", id=row.id)
            continue
        renamed = "UPDATE alert_word SET word_key = :key, first_part = :part WHERE id = :id"
        _run(renamed, key=key, part=first_part(key), id=row.id)
