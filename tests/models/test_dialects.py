"""Statements with a different text for each database."""

import subprocess
import sys

from sqlalchemy import insert, select

from models.dialects import in_parameter
from models.payment.tables import Wallet
from specd.db import Change, Database, Query


def test_each_dialect_has_its_statement(database: Database) -> None:
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


def test_sqlalchemy_without_the_internal_part_is_rejected() -> None:
    """The part is below the public interface. Without this check the first request would fail."""
    program = (
        "from sqlalchemy.sql.selectable import AliasedReturnsRows\n"
        "del AliasedReturnsRows._construct\n"
        "import models.dialects\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: SQLAlchemy" in done.stderr
    assert "has no Alias._construct, which indexed_by uses" in done.stderr
