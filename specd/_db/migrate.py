"""Upgrades a service's database to the newest schema: one process at a time, in one transaction.
Indexes are built after it.

Servers of the previous release continue meanwhile. A change of a table waits for the transactions
that use the table, and all later transactions wait for the change. So its lock timeout is short,
and it is tried again.
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
from specd._db.metadata import find_metadata
from specd._db.outages import is_lock_timeout
from specd._db.revisions import COMPATIBILITY, history_of
from specd._project import current

ADVISORY_LOCK = 0x5BECD  # one number for the migrations of all services
ENVIRONMENT = Path(__file__).parent / "environment"
LOCK_WAIT_S = 60.0
TABLE_LOCK_WAIT_S = 2.0
"""The lock timeout of one try (PostgreSQL). It is less than the default of
`Settings.lock_timeout_s`, the limit of requests.
"""


class UnknownRevision(Exception):
    """The database has a migration that this release does not have."""


class WrongEncoding(Exception):
    """The database stores texts in an encoding other than UTF-8. The message is its name."""


class BrokenReferences(Exception):
    """Migrations would leave rows that refer to missing rows. The message names their tables."""


def upgrade(url: str, service: str) -> None:
    """Apply the missing migrations. Several processes can call this at the same time: one applies
    them, and the others wait and find nothing to do.

    Create an SQLite file and its folder if they are missing. Raise `UnknownRevision`,
    `WrongEncoding`, `BrokenReferences` or `DatabaseUnavailable`.
    """
    config = _config(service)
    models = find_metadata(current()[service].models)

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
        if database.dialect == "sqlite":
            _require_kept_references(connection)
        if not builds_beside:
            for each in models:
                build_in_transaction(connection, each)
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
            for each in models:
                build_beside_writers(database, each)


def _require_kept_references(connection: Connection) -> None:
    """Raise `BrokenReferences` if SQLite has rows that refer to missing rows."""
    broken = connection.execute(text("PRAGMA foreign_key_check")).first()
    if broken is not None:
        raise BrokenReferences(f"Rows of {broken[0]} refer to rows of {broken[2]} that are gone")


def _write_compatibility(connection: Connection, history: ScriptDirectory) -> None:
    """Record the oldest release that can use the newest schema."""
    newest = history.get_revision("head")
    if newest is None:
        return
    COMPATIBILITY.create(connection, checkfirst=True)
    connection.execute(delete(COMPATIBILITY))
    oldest = getattr(newest.module, "oldest", newest.revision)
    row = {"revision": newest.revision, "oldest": oldest}
    connection.execute(insert(COMPATIBILITY).values(row))


def open_history(service: str) -> ScriptDirectory:
    """Return a service's migrations. Raise ValueError for an unknown service."""
    return ScriptDirectory.from_config(_config(service))


def _config(service: str) -> Config:
    config = Config()
    config.set_main_option("script_location", _escaped(ENVIRONMENT))
    config.set_main_option("version_locations", _escaped(history_of(service)))
    config.set_main_option("path_separator", "newline")
    return config


def _escaped(path: Path) -> str:
    return str(path).replace("%", "%%")
