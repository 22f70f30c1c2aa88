"""The state of PostgreSQL's WAL archive, for the operator's metrics."""

from dataclasses import dataclass

from sqlalchemy import text

from specd.db import Db

_ASK = text(
    "SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false),"
    " extract(epoch FROM clock_timestamp()"
    " - greatest(coalesce(last_archived_time, stats_reset), pg_postmaster_start_time()))"
    " FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'"
)


@dataclass(frozen=True, slots=True)
class Archiving:
    """Whether archiving the last file failed, and the seconds since a file was archived or, if none
    was, since the server's start.
    """

    fails: bool
    last_s: float


def find_archiving(db: Db, dialect: str) -> Archiving | None:
    """Return the state of the archive, or None if there is none, as for SQLite."""
    if dialect != "postgresql":
        return None
    row = db.execute(_ASK).one_or_none()
    return None if row is None else Archiving(bool(row[0]), float(row[1] or 0))
