"""Bring a service's database to the newest schema: one process at a time, one transaction."""

import warnings
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import make_url, text
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import Session

from models.database import Database
from models.revisions import history_of

ADVISORY_LOCK = 0x5BECD  # one number for every migration of ours, whatever the service
LOCK_WAIT_S = 60.0


def upgrade(url: str, service: str) -> None:
    """Apply what is missing. Several at once are safe: one works, the others wait and find nothing.

    An SQLite file and its folder are made when missing. Raises `DatabaseUnavailable`.
    """
    config = _config(service)

    def work(session: Session) -> None:
        connection = session.connection()
        if database.dialect == "postgresql":
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": ADVISORY_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    database = Database(url, lock_timeout_s=LOCK_WAIT_S, rewrites_tables=True)
    if database.dialect == "sqlite":
        Path(make_url(url).database or "").absolute().parent.mkdir(parents=True, exist_ok=True)
    with closing(database), warnings.catch_warnings():
        # Alembic looks at every table a copied one refers to, and needs none of their indexes.
        warnings.filterwarnings("ignore", "Skipped unsupported reflection", SAWarning)
        database.run(work)


def _config(service: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(history_of(service)).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
