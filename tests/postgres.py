"""A PostgreSQL server for the suite: the one `SPECD_TEST_POSTGRES_URL` names, or one of our own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, make_url

VARIABLE = "SPECD_TEST_POSTGRES_URL"

_EMPTY = """
SET lock_timeout = '1s';
DO $$ BEGIN EXECUTE (
  SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') || ' RESTART IDENTITY'
  FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
); END $$;
"""


class PostgresServer:
    """Hands out databases: a migrated template once, copies of it, and a copy emptied again."""

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql")
        self._made = 0

    def url_of(self, database: str) -> str:
        url = self._url.set(database=database, drivername="postgresql+psycopg")
        return url.render_as_string(hide_password=False)

    def create(self, *, template: str = "template1") -> str:
        """The name of a new database that holds what `template` holds."""
        self._made += 1
        name = f"specd_test_{os.getpid()}_{self._made}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def drop(self, database: str) -> None:
        self._execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    def is_emptied(self, database: str) -> bool:
        """Empty every table, far faster than a new copy; False when somebody still holds one."""
        try:
            self._execute(_EMPTY, database=database)
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    def _execute(self, statement: str, *, database: str | None = None) -> None:
        url = self._url if database is None else self._url.set(database=database)
        address = url.render_as_string(hide_password=False)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """The server to test on. Skips, saying why, where there is none."""
    given = os.environ.get(VARIABLE)
    if given:
        yield PostgresServer(make_url(given))
        return
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        pytest.skip(f"PostgreSQL: not installed, and {VARIABLE} is not set")
    with _own_server(programs[-1].parent) as server:
        yield server


@contextmanager
def _own_server(programs: Path) -> Iterator[PostgresServer]:
    # PostgreSQL refuses to run as root; root lends itself to the packaged user.
    user = "postgres" if os.geteuid() == 0 else None
    # A socket's path may have 107 bytes, which pytest's own directories exceed.
    directory = Path(tempfile.mkdtemp(prefix="specd-pg-"))
    try:
        if user:
            shutil.chown(directory, user)
        data = directory / "data"
        _run([programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
              "--no-sync"], user, directory)  # fmt: skip
        options = (
            f"-k {directory} -c listen_addresses='' -c max_connections=200"
            " -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
        )
        control = [programs / "pg_ctl", "-D", data, "-l", directory / "log", "-w"]
        _run([*control, "-o", options, "start"], user, directory)
        stop = [*control, "-m", "immediate", "stop"]
        # Stops the server when its standard input ends, however this process comes to its end.
        guard = subprocess.Popen(
            ["sh", "-c", 'cat; "$@"; cd / && rm -rf "$0"', str(directory), *map(str, stop)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            user=user,
            cwd=directory,
            start_new_session=True,
        )
        try:
            yield PostgresServer(
                URL.create(
                    "postgresql",
                    username="postgres",
                    database="postgres",
                    query={"host": str(directory)},
                )
            )
        finally:
            guard.communicate()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(command: list[str | Path], user: str | None, directory: Path) -> None:
    subprocess.run(
        [str(part) for part in command],
        check=True,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        user=user,
        cwd=directory,
    )
