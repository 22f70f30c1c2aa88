"""Shared parts of declarative bases and tables."""

from typing import cast

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""The naming convention of a service's `MetaData`, so that a constraint has the same name in every
database and in every migration.
"""


def table_of(model: type[DeclarativeBase]) -> Table:
    """Return the table of a model class, with the type `Table`, which SQLAlchemy does not
    declare.
    """
    return cast(Table, model.__table__)


def upsert(table: Table | type[DeclarativeBase]) -> postgresql.Insert:
    """Return an INSERT with `on_conflict_do_update` and `on_conflict_do_nothing`, which have the
    same syntax in both databases.
    """
    return postgresql.insert(table)
