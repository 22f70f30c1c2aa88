"""Statements that have a text of their own on each database."""

from sqlalchemy import insert, select

from models.dialects import in_parameter
from models.payment.tables import Wallet
from specd.db import Change, Database, Query


def test_a_statement_of_each_dialect(database: Database) -> None:
    some = Query(
        select(Wallet.xpub)
        .where(in_parameter(Wallet.next_address_index, "indexes"))
        .order_by(Wallet.xpub)
    )
    new = [{"xpub": name, "next_address_index": at} for at, name in enumerate("abc")]
    database.run(lambda session: Change(insert(Wallet.__table__)).run_all(session, new))
    with database.reading() as connection:
        for indexes, expected in (([0, 2, 3], [("a",), ("c",)]), ([3], [])):
            asked = {"indexes": indexes}
            assert some.all(connection, asked) == expected
