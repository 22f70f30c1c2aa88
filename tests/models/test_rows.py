"""Values are assigned to the fields of their names in any order of columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, Select, insert, select

from models.payment.tables import Wallet
from models.rows import RowQuery, columns_of, read_row, read_rows, row_of
from specd.db import Change, Database


class Tuple(NamedTuple):
    xpub: str
    next_address_index: int


@dataclass(frozen=True, kw_only=True)
class Record:
    next_address_index: int
    xpub: str


SHAPES = [Tuple, Record]
IN_ORDER = select(Wallet.xpub, Wallet.next_address_index).order_by(Wallet.xpub)
OTHERWISE = select(Wallet.next_address_index, Wallet.xpub).order_by(Wallet.xpub)


@contextmanager
def two_wallets(database: Database) -> Iterator[Connection]:
    rows = [{"xpub": name, "next_address_index": at} for at, name in enumerate("ab")]
    database.run(lambda session: Change(insert(Wallet.__table__)).run_all(session, rows))
    with database.reading() as connection:
        yield connection


@pytest.mark.parametrize("statement", [IN_ORDER, OTHERWISE], ids=["in order", "otherwise"])
@pytest.mark.parametrize("shape", SHAPES)
def test_fields_are_assigned_by_name(
    database: Database, shape: Any, statement: Select[Any]
) -> None:
    expected = [shape(xpub="a", next_address_index=0), shape(xpub="b", next_address_index=1)]
    with two_wallets(database) as connection:
        assert read_rows(shape, connection.execute(statement)) == expected
        assert read_row(shape, connection.execute(statement)) == expected[0]
        query: RowQuery[Any] = RowQuery(shape, statement)
        assert query.all(connection) == expected
        assert query.first(connection) == expected[0]


def test_missing_row_is_none(database: Database) -> None:
    nobody = IN_ORDER.where(Wallet.xpub == "c")
    with two_wallets(database) as connection:
        assert read_row(Tuple, connection.execute(nobody)) is None
        assert RowQuery(Tuple, nobody).first(connection) is None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "columns",
    [[Wallet.xpub], [Wallet.xpub, Wallet.next_address_index.label("index")]],
    ids=["too few", "another name"],
)
def test_mismatched_columns_are_rejected(
    database: Database, shape: Any, columns: list[Any]
) -> None:
    statement = select(*columns)
    with pytest.raises(TypeError, match="has the fields"):
        RowQuery(shape, statement)
    with two_wallets(database) as connection, pytest.raises(TypeError, match="has the fields"):
        read_rows(shape, connection.execute(statement))


def test_row_is_built_from_another_object() -> None:
    wallet = Wallet(xpub="a", next_address_index=3)
    assert row_of(Record, wallet, xpub="b") == Record(xpub="b", next_address_index=3)


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_of_a_row_are_its_fields(shape: Any) -> None:
    found = [column.name for column in columns_of(shape, Wallet)]
    assert sorted(found) == ["next_address_index", "xpub"]
