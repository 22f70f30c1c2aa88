"""`specd migrate --new` writes the difference between the tables and the database."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from specd.db import Database
from tests.support.postgres import PostgresServer
from tests.support.stranger import Stranger

FIRST = """
from datetime import datetime

from sqlalchemy import ForeignKey, MetaData, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from specd.db import NAMING, RowNumber, UtcMs


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)


class Owner(Base):
    __tablename__ = "owner"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    name: Mapped[str] = mapped_column(String(20), index=True)
    at: Mapped[datetime | None] = mapped_column(UtcMs)


class Pet(Base):
    __tablename__ = "pet"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    owner: Mapped[int] = mapped_column(ForeignKey("owner.id", ondelete="CASCADE"))
"""
ADDED = FIRST.replace(
    "    at: ", "    note: Mapped[str | None] = mapped_column(String(9))\n    at: "
)
CHANGED = FIRST.replace("String(20)", "String(30)")
INDEXED = CHANGED.replace("(UtcMs)", "(UtcMs, index=True)")
WRITTEN = '''"""Pets."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
oldest = "0001"  # the oldest release, by its last migration, that can use this schema


def upgrade() -> None:
    op.create_table(
        "owner",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=20), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owner")),
    )
    op.create_table(
        "pet",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner"], ["owner.id"], name=op.f("fk_pet_owner_owner"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pet")),
    )
'''


class Shop:
    """A project whose service has the tables of `models`."""

    def __init__(self, stranger: Stranger, url: str) -> None:
        self._stranger = stranger
        self.url = url
        stranger.env["SPECD_SHOP_DATABASE_URL"] = url
        stranger.specd("new", "shop")

    def write(self, models: str, name: str) -> str:
        """Return the migration written for new models, or an empty text."""
        (self._stranger.path / "shop/models.py").write_text(models)
        result = json.loads(self._stranger.specd("migrate", "--new", name, "--json"))
        files = [(self._stranger.path / file).read_text() for file in result["written"]]
        return "".join(files)

    def migrate(self) -> None:
        self._stranger.specd("migrate", "--only", "shop")

    def execute(self, statement: str) -> list[object]:
        with closing(Database(self.url)) as database:
            return database.run(
                lambda session: (
                    list(found.scalars())
                    if (found := session.execute(text(statement))).returns_rows
                    else []
                )
            )


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    if request.param == "sqlite":
        yield Shop(Stranger(tmp_path), f"sqlite:///{tmp_path}/odd 100% name.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    yield Shop(Stranger(tmp_path), server.url_of(name))
    server.drop(name)


def test_migrations_are_written_and_keep_the_rows(shop: Shop) -> None:
    assert shop.write(FIRST, "pets") == WRITTEN
    shop.migrate()
    assert shop.write(FIRST, "nothing") == ""
    shop.execute("INSERT INTO owner (id, name) VALUES (1, 'Ada')")
    shop.execute("INSERT INTO pet (id, owner) VALUES (2, 1)")

    added = shop.write(ADDED, "note")
    assert 'batch_op.add_column(sa.Column("note", sa.String(length=9), nullable=True))' in added
    assert 'oldest = "0001"' in added
    shop.migrate()

    changed = shop.write(CHANGED, "longer_name")
    assert "type_=sa.String(length=30)" in changed
    assert 'batch_op.drop_column("note")' in changed
    assert 'oldest = "0003"' in changed, "the previous release would write the column"
    shop.migrate()
    assert shop.execute("SELECT owner FROM pet") == [1], "a copied table must keep all rows"

    assert "    pass  # the indexes" in shop.write(INDEXED, "index")
    shop.migrate()
    assert shop.write(INDEXED, "nothing") == ""
