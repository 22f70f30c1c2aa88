"""Read-only checks of databases and the store of limits."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import urlsplit

from sqlalchemy import Connection, make_url, text

from specd._cli.databases import (
    SQLITE,
    UNMIGRATED,
    is_missing,
    limits_are_missing,
    may_create_tables,
    owner_is_missing,
    why_unusable,
)
from specd._cli.output import database_message
from specd._db.database import Database
from specd._db.errors import DatabaseUnavailable
from specd._db.revisions import is_usable
from specd._settings import Settings, SettingsError, is_loopback, variable

ABSENT = re.compile(r"does not exist|authentication failed")
"""Matches PostgreSQL's messages about a missing role or database."""
SLOW_S = 1.0
CLOCK_TOLERANCE_S = 15.0
CLOCK_WARNING_S = 1.0
SQLITE_WANTED = {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `state` is ok, warning or broken. `detail` names the fix."""

    check: str
    state: str
    detail: str


def diagnose_database(
    service: str,
    url: str,
    settings: Settings,
    others: Iterable[Callable[[str, Database, Settings], Iterator[Finding]]],
) -> Iterator[Finding]:
    """Check that a database is reachable, migrated and configured for durability, and that it
    accepts the connections of this machine. Then run the checks `others`.
    """
    name = f"{service} database"
    if is_missing(url):
        yield Finding(name, "broken", "the file does not exist yet; run `specd migrate`")
        return
    try:
        if not is_usable(url, service):
            reason = why_unusable(url, service)
            if reason == UNMIGRATED and not url.startswith(SQLITE) and not may_create_tables(url):
                reason = f"its role cannot create tables; {owner_is_missing(url)}"
            yield Finding(name, "broken", reason)
            return
        with closing(Database.for_service(service, settings)) as database:
            lacks = database.missing_limits()
            if lacks:
                yield Finding(name, "broken", limits_are_missing(lacks))
                return
            looks = _sqlite if database.dialect == "sqlite" else _postgresql
            with database.reading() as connection:
                yield looks(name, connection)
                if database.dialect == "postgresql":
                    yield from _connections(name, connection, settings)
            for diagnose in others:
                yield from diagnose(service, database, settings)
    except DatabaseUnavailable as error:
        reason = database_message(error) or "does not respond"
        advice = f"check SPECD_{service.upper()}_DATABASE_URL"
        if ABSENT.search(reason):
            advice += f", or, {owner_is_missing(url)}"
        yield Finding(name, "broken", f"{reason}; {advice}")


def _sqlite(name: str, connection: Connection) -> Finding:
    values = {
        pragma: str(connection.execute(text(f"PRAGMA {pragma}")).scalar())
        for pragma in (*SQLITE_WANTED, "busy_timeout")
    }
    wrong = [f"{k} is {values[k]}, not {v}" for k, v in SQLITE_WANTED.items() if values[k] != v]
    if wrong:
        return Finding(name, "broken", "; ".join(wrong))
    waits = f"waits {int(values['busy_timeout']) / 1000:g} s for a lock"
    return Finding(name, "ok", f"SQLite in WAL, synchronous=FULL, foreign keys on, {waits}")


def _postgresql(name: str, connection: Connection) -> Finding:
    version = connection.execute(text("SHOW server_version")).scalar()
    theirs = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    apart = abs(float(theirs) - time.time())
    if apart > CLOCK_TOLERANCE_S:
        return Finding(
            name, "broken", f"its clock and this machine's differ by {apart:.0f} s; set them (NTP)"
        )
    if apart > CLOCK_WARNING_S:
        return Finding(
            name, "warning", f"its clock and this machine's differ by {apart:.1f} s; use NTP"
        )
    if connection.execute(text("SHOW fsync")).scalar() != "on":
        return Finding(name, "warning", f"PostgreSQL {version} with fsync off: a crash loses data")
    return Finding(
        name, "ok", f"PostgreSQL {version}, time limits set, clocks differ by {apart:.1f} s"
    )


def _connections(name: str, connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Compare the number of connections that the processes of this machine may open with
    PostgreSQL's limit.
    """
    shown = connection.execute(text("SHOW max_connections")).scalar_one()
    reserved = connection.execute(text("SHOW superuser_reserved_connections")).scalar_one()
    given = int(shown) - int(reserved)
    servers = [_server_of(url) for url in settings.database_urls.values()]
    here = _server_of(settings.database_urls[name.partition(" ")[0]])
    needed = settings.workers * servers.count(here) * connections_of(settings.database_pool_size)
    if given < needed:
        yield Finding(
            f"{name}'s connections",
            "warning",
            f"this machine's servers may use {needed}, and max_connections allows {given};"
            " raise it (docs/deploy/README.md), or lower SPECD_DATABASE_POOL_SIZE",
        )


def _server_of(url: str) -> tuple[object, ...]:
    """Return the identity of a database's server: backend, host and port."""
    parts = make_url(url)
    host = parts.query.get("host") or parts.host
    return parts.get_backend_name(), host, parts.query.get("port") or parts.port


def connections_of(pool_size: int) -> int:
    """Return the maximum number of connections of a process to one database: two pools, and one
    connection each for probes, the heartbeat, sending notifications and receiving them.
    """
    return 2 * pool_size + 4


def diagnose_limits(settings: Settings) -> Iterator[Finding]:
    """Check the store of limits, if there is one: whether it responds, and whether the connection
    is encrypted.
    """
    name, url = "limits", urlsplit(settings.limits_url)
    try:
        # imports the engine, which most commands do not need
        wiring = import_module("specd._limits.wiring")
        store = wiring.open_limit_store(settings, "doctor", bytes, timeout_s=SLOW_S)
    except SettingsError as error:
        yield Finding(name, "broken", str(error))
        return
    if store is None:
        return
    with closing(store):
        began = time.monotonic()
        version, problem = store.find_version()
        took = time.monotonic() - began
    if version is None:
        fix = (
            f"{problem}; check {variable('limits_url')}. Until then, each machine counts separately"
        )
        yield Finding(name, "broken", fix)
    elif url.scheme == "redis" and not is_loopback(url.hostname or ""):
        yield Finding(
            name,
            "warning",
            f"{version} responded in {took * 1000:.0f} ms without TLS: use rediss://, or a private"
            " network",
        )
    else:
        yield Finding(name, "ok", f"{version} responded in {took * 1000:.0f} ms")
