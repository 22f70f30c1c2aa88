"""A reused copy of a database has the contents of the template, regardless of earlier changes."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.support.postgres import Copies, PostgresServer

TEMPLATE = """
CREATE TABLE filled (id serial PRIMARY KEY, said text);
INSERT INTO filled (said) VALUES ('one'), (NULL), ('three');
CREATE TABLE empty (id serial PRIMARY KEY, "of" integer REFERENCES filled);
"""
HELD = 'SELECT ARRAY(SELECT f::text FROM filled f), ARRAY(SELECT e::text FROM "empty" e)'
NEXT = "SELECT nextval('filled_id_seq'), nextval('empty_id_seq')"


@pytest.fixture
def copies(postgres: PostgresServer) -> Iterator[Copies]:
    template = postgres.create()
    with connected(postgres.url_of(template)) as connection:
        connection.execute(TEMPLATE)
    copies = Copies(postgres, template)
    yield copies
    copies.drop()


def connected(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@pytest.mark.parametrize(
    "deed",
    [
        "SELECT",
        'INSERT INTO "empty" ("of") VALUES (3)',
        'INSERT INTO "empty" DEFAULT VALUES; DELETE FROM "empty"',
        "UPDATE filled SET said = 'two' WHERE said IS NULL",
        "UPDATE filled SET said = said WHERE id = 1",
        "DELETE FROM filled WHERE id = 2",
        'INSERT INTO "empty" ("of") VALUES (3); TRUNCATE filled RESTART IDENTITY CASCADE',
    ],
)
def test_returned_copy_is_restored(copies: Copies, deed: str) -> None:
    with copies.one() as url, connected(url) as connection:
        held = connection.execute(HELD).fetchall()
        connection.execute(deed.encode())
    with copies.one() as again, connected(again) as connection:
        assert again == url, "the same copy must be reused"
        assert connection.execute(HELD).fetchall() == held
        assert connection.execute(NEXT).fetchall() == [(4, 1)]


def test_copy_in_use_is_not_reused(copies: Copies) -> None:
    with copies.one() as url:
        holder = connected(url)
        holder.execute("BEGIN; SELECT FROM filled")
    with copies.one() as another:
        assert another != url
    holder.close()
