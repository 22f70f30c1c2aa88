"""Bot storage.

A small key-value store for each user, in which bots store their state between runs.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Session

from models.chat.errors import ChatError
from models.chat.identity.actors import Actor
from models.chat.tables import BotStorage
from models.chat.tables.bots import KEY_MAX
from specd.db import Db, table_of, upsert


class StorageKeyDoesNotExist(ChatError):
    """Nothing is stored under one of the keys. Only the caller's keys are searched."""

    sentence = "Key does not exist."
    advice = "Use keys that `GET /bot_storage` without `keys` returns."


class StorageKeyTooLong(ChatError):
    """A key exceeds the maximum length. Facts: `limit`."""

    sentence = "A key is too long (limit: {limit} characters)."
    advice = "Store the value under a shorter key."


class StorageLimitExceeded(ChatError):
    """The caller would store more characters, keys included, than the operator permits. Facts:
    `excess`, `limit`.
    """

    sentence = (
        "Request exceeds storage limit by {excess} characters. The limit is {limit} characters."
    )
    advice = "Remove unused keys with `DELETE /bot_storage`."


_TABLE = table_of(BotStorage)
_MINE = (
    select(_TABLE.c.key, _TABLE.c.value)
    .where(_TABLE.c.user_id == bindparam("of_user_id"))
    .order_by(_TABLE.c.key)
)
_SIZE = select(func.coalesce(func.sum(_TABLE.c.size), 0)).where(
    _TABLE.c.user_id == bindparam("of_user_id")
)


def access_values(db: Db, actor: Actor, keys: Collection[str]) -> dict[str, str]:
    """Return key -> value of these keys, or of all keys of the actor if `keys` is empty.

    Raise `StorageKeyDoesNotExist`.
    """
    query = _MINE.where(_TABLE.c.key.in_(sorted(set(keys)))) if keys else _MINE
    values = {key: value for key, value in db.execute(query, {"of_user_id": actor.id})}
    if not set(keys) <= values.keys():
        raise StorageKeyDoesNotExist()
    return values


def store_values(session: Session, actor: Actor, values: Mapping[str, str], *, limit: int) -> None:
    """Store each value under its key. Earlier values are replaced. `limit` is the maximum number of
    characters in the actor's keys and values. Raise `StorageKeyTooLong`, `StorageLimitExceeded`.
    """
    if any(len(key) > KEY_MAX for key in values):
        raise StorageKeyTooLong(limit=KEY_MAX)
    if not values:
        return
    rows = [
        {"user_id": actor.id, "key": key, "size": len(key) + len(value), "value": value}
        for key, value in sorted(values.items())  # always in this order, to avoid deadlocks
    ]
    put = upsert(_TABLE)
    put = put.on_conflict_do_update(
        index_elements=[_TABLE.c.user_id, _TABLE.c.key],
        set_={"size": put.excluded.size, "value": put.excluded.value},
    )
    session.connection().execute(put, rows)
    size = session.execute(_SIZE, {"of_user_id": actor.id}).scalar_one()
    if size > limit:
        raise StorageLimitExceeded(excess=size - limit, limit=limit)


def remove_values(session: Session, actor: Actor, keys: Collection[str]) -> None:
    """Remove these keys, or all keys of the actor if `keys` is empty. Raise
    `StorageKeyDoesNotExist`. The caller must then roll back the unit.
    """
    mine = delete(_TABLE).where(_TABLE.c.user_id == actor.id)
    if keys:
        mine = mine.where(_TABLE.c.key.in_(sorted(set(keys))))
    removed = session.connection().execute(mine.returning(_TABLE.c.key)).all()
    if keys and len(removed) < len(set(keys)):
        raise StorageKeyDoesNotExist()
