"""Long lists of ids in a condition: one bound value, so that thousands cost no more to compile."""

from collections.abc import Iterable
from typing import Any

import orjson
from sqlalchemy import BigInteger, ColumnElement, Integer, bindparam, column, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from models.chat.actors import Reader
from models.chat.search import dialect_of


def id_in(reader: Reader, ids_column: Any, ids: Iterable[int]) -> ColumnElement[bool]:
    """The condition that the column is one of the ids."""
    if dialect_of(reader) == "sqlite":
        text: Any = bindparam(None, orjson.dumps(list(ids)).decode(), unique=True)
        values = func.json_each(text).table_valued(column("value", Integer))
        return ids_column.in_(select(values.c.value))  # type: ignore[no-any-return]
    array: Any = bindparam(None, list(ids), type_=ARRAY(BigInteger), unique=True)
    return ids_column == func.any(array)  # type: ignore[no-any-return]
