"""Bring a service's database to the newest schema: one process at a time, one transaction, and the
indexes of lists after it.

Servers of the release before go on meanwhile. A change of a table waits for the transactions that
use the table, and all that come later wait behind it. So it waits for less than a request does, and
is tried again.
"""

import time
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, delete, insert, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from specd._db.database import Database
from specd._db.errors import DatabaseUnavailable
from specd._db.indexes import build_beside_writers, build_in_transaction
from specd._db.outages import is_lock_timeout
from specd._db.revisions import COMPATIBILITY, history_of

ADVISORY_LOCK = 0x5BECD  # one number for every migration of ours, whatever the service
LOCK_WAIT_S = 60.0
TABLE_LOCK_WAIT_S = 2.0
"""Of one try (PostgreSQL). Less than the five seconds that a request waits for a lock."""


class UnknownRevision(Exception):
    """The database is at a revision that this release does not have."""


class WrongEncoding(Exception):
    """The database keeps texts in another encoding than UTF-8, which its message names."""


def upgrade(url: str, service: str) -> None:
    """Apply what is missing. Several at once are safe: one works, the others wait and find nothing.

    An SQLite file and its folder are made when missing. Raises `UnknownRevision`, `WrongEncoding`,
    `DatabaseUnavailable`.
    """
    config = _config(service)

    def work(session: Session) -> None:
        connection = session.connection()
        if database.dialect == "postgresql":
            encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
            if encoding != "UTF8":
                raise WrongEncoding(encoding)
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": ADVISORY_LOCK})
            connection.execute(text(f"SET LOCAL lock_timeout = '{TABLE_LOCK_WAIT_S}s'"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise UnknownRevision from error
        if not builds_beside:
            build_in_transaction(connection, config.attributes["models"])
        _write_compatibility(connection, ScriptDirectory.from_config(config))

    database = Database(url, lock_timeout_s=LOCK_WAIT_S, rewrites_tables=True)
    if database.dialect == "sqlite":
        Path(make_url(url).database or "").absolute().parent.mkdir(parents=True, exist_ok=True)
    builds_beside = database.dialect == "postgresql" and not database.is_pooled
    ends_at = time.monotonic() + LOCK_WAIT_S
    with closing(database):
        while True:
            try:
                database.run(work)
                break
            except DatabaseUnavailable as error:
                cause = error.__cause__
                is_locked = isinstance(cause, DBAPIError) and is_lock_timeout(cause)
                if not is_locked or time.monotonic() > ends_at:
                    raise
        if builds_beside:
            build_beside_writers(database, config.attributes["models"])


def _write_compatibility(connection: Connection, history: ScriptDirectory) -> None:
    """Write which release is the oldest that can use the newest schema."""
    newest = history.get_revision("head")
    COMPATIBILITY.create(connection, checkfirst=True)
    connection.execute(delete(COMPATIBILITY))
    row = {"revision": newest.revision, "oldest": newest.module.oldest}
    connection.execute(insert(COMPATIBILITY).values(row))


def _config(service: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(history_of(service)).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
