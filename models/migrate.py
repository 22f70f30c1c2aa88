"""Bring a service's database to the newest schema: one process at a time, one transaction."""

from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import make_url, text
from sqlalchemy.orm import Session

from models.database import Database
from models.revisions import history_of

ADVISORY_LOCK = 0x5BECD  # one number for every migration of ours, whatever the service
LOCK_WAIT_S = 60.0


class UnknownRevision(Exception):
    """The database is at a revision that this release does not have."""


def upgrade(url: str, service: str) -> None:
    """Apply what is missing. Several at once are safe: one works, the others wait and find nothing.

    An SQLite file and its folder are made when missing. Raises `UnknownRevision`,
    `DatabaseUnavailable`.
    """
    config = _config(service)

    def work(session: Session) -> None:
        connection = session.connection()
        if database.dialect == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": ADVISORY_LOCK})
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise UnknownRevision from error

    database = Database(url, lock_timeout_s=LOCK_WAIT_S, rewrites_tables=True)
    if database.dialect == "sqlite":
        Path(make_url(url).database or "").absolute().parent.mkdir(parents=True, exist_ok=True)
    with closing(database):
        database.run(work)


def _config(service: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(history_of(service)).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
