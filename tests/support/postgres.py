"""A PostgreSQL server for the suite: that of `SPECD_TEST_POSTGRES_URL`, or a temporary one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import TupleRow
from sqlalchemy import URL, make_url

VARIABLE = "SPECD_TEST_POSTGRES_URL"

# The contents of all tables and sequences are copied to a separate schema. `kept.restore()`
# restores the tables whose rows or order differ: far faster than copying the database or refilling
# every table. The locks detect open transactions on a table.
_KEEP = """
DROP SCHEMA IF EXISTS kept CASCADE;
CREATE SCHEMA kept;
CREATE TABLE kept.tables (name text, columns text);
CREATE TABLE kept.sequences (name text, last_value bigint, is_called boolean);
DO $$ DECLARE it record; BEGIN
  INSERT INTO kept.tables
    SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position)
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'
      AND table_name <> 'alembic_version'
    GROUP BY table_name;
  FOR it IN SELECT * FROM kept.tables LOOP
    EXECUTE format('CREATE TABLE kept.%I AS SELECT %s FROM public.%I',
                   it.name, it.columns, it.name);
  END LOOP;
  FOR it IN SELECT sequencename AS name FROM pg_sequences WHERE schemaname = 'public' LOOP
    EXECUTE format('INSERT INTO kept.sequences SELECT %L, last_value, is_called FROM public.%I',
                   it.name, it.name);
  END LOOP;
  EXECUTE (
    SELECT 'CREATE FUNCTION kept.changed() RETURNS SETOF text LANGUAGE plpgsql AS $f$ BEGIN '
      || string_agg(format(
        'IF ARRAY(SELECT ROW(%2$s)::text FROM public.%1$I)'
        ' <> ARRAY(SELECT ROW(%2$s)::text FROM kept.%1$I) THEN RETURN NEXT %1$L; END IF;',
        name, columns), ' ') || ' END $f$'
    FROM kept.tables);
END $$;
CREATE FUNCTION kept.restore() RETURNS void LANGUAGE plpgsql AS $$ DECLARE it record; BEGIN
  EXECUTE (SELECT 'LOCK TABLE ' || string_agg(format('public.%I', name), ', ') FROM kept.tables);
  FOR it IN SELECT * FROM kept.tables WHERE name IN (SELECT kept.changed()) LOOP
    EXECUTE format('DELETE FROM public.%I', it.name);
    EXECUTE format('INSERT INTO public.%I (%s) SELECT %s FROM kept.%I',
                   it.name, it.columns, it.columns, it.name);
  END LOOP;
  PERFORM setval(format('public.%I', name), last_value, is_called) FROM kept.sequences;
END $$;
"""
_RESTORING = "-c lock_timeout=1s -c session_replication_role=replica"


class PostgresServer:
    """Provides databases: a template that is filled once, and copies that are restored."""

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql")
        self._made = 0
        self._restorers: dict[str, psycopg.Connection[TupleRow]] = {}

    def url_of(self, database: str) -> str:
        url = self._url.set(database=database, drivername="postgresql+psycopg")
        return url.render_as_string(hide_password=False)

    def create(self, *, template: str = "template1", options: str = "") -> str:
        """Create a database from a template. Return its name."""
        self._made += 1
        name = f"specd_test_{os.getpid()}_{self._made}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {options}')
        return name

    @contextmanager
    def copied(self, template: str) -> Iterator[str]:
        """Yield the URL of a copy that is dropped at the end. Its connections may be terminated."""
        name = self.create(template=template)
        yield self.url_of(name)
        self.drop(name)

    def drop(self, database: str) -> None:
        if database in self._restorers:
            self._restorers.pop(database).close()
        self._execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    def keep(self, database: str) -> None:
        """Store the contents for `is_restored` on every copy of the database."""
        self._execute(_KEEP, database=database)

    def is_restored(self, database: str) -> bool:
        """Restore the stored contents. Return False if a table is still locked."""
        # Most of the time would be spent in a new process that reads the catalog.
        if database not in self._restorers:
            self._restorers[database] = self._connect(database, options=_RESTORING)
        try:
            self._restorers[database].execute("SELECT kept.restore()")
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    def _execute(self, statement: str, *, database: str | None = None) -> None:
        with self._connect(database or self._url.database) as connection:
            connection.execute(statement.encode())

    def _connect(self, database: str | None, **options: str) -> psycopg.Connection[TupleRow]:
        address = self._url.set(database=database).render_as_string(hide_password=False)
        return psycopg.connect(address, autocommit=True, **options)  # type: ignore[arg-type]


class Copies:
    """Copies of one template. Each is reused until it contains many deleted rows."""

    USES = 100

    def __init__(self, server: PostgresServer, template: str) -> None:
        server.keep(template)
        self._server = server
        self._template = template
        self._free: list[str] = []
        self._uses: Counter[str] = Counter()
        self._further: list[Copies] = []

    @contextmanager
    def one(self) -> Iterator[str]:
        """Yield the URL of a database with the template's contents."""
        name = self._free.pop() if self._free else self._server.create(template=self._template)
        self._uses[name] += 1
        yield self._server.url_of(name)
        if self._uses[name] < self.USES and self._server.is_restored(name):
            self._free.append(name)
        else:
            self._server.drop(name)

    def filled(self, fill: Callable[[str], object]) -> Copies:
        """Return copies of another template: this one with the additions of `fill(url)`."""
        name = self._server.create(template=self._template)
        fill(self._server.url_of(name))
        self._further.append(Copies(self._server, name))
        return self._further[-1]

    @contextmanager
    def unshared(self) -> Iterator[str]:
        """Yield the URL of a copy that no other test uses, so that all its connections may be
        terminated. `Lent` keeps connections to other copies open.
        """
        with self._server.copied(self._template) as url:
            yield url

    def drop(self) -> None:
        """Drop the free copies, the template, and the templates created from it."""
        for each in self._further:
            each.drop()
        for name in [*self._free, self._template]:
            self._server.drop(name)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Yield the test server, or skip with the reason if there is none."""
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
    # PostgreSQL does not run as root, so root uses the packaged user.
    user = "postgres" if os.geteuid() == 0 else None
    # A socket's path has at most 107 bytes, which pytest's directories exceed.
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
            # Rows keep their insertion order, as in a new database.
            " -c autovacuum=off"
        )
        control: list[str | Path] = [programs / "pg_ctl", "-D", data, "-l", directory / "log", "-w"]
        _run([*control, "-o", options, "start"], user, directory)
        stop = [*control, "-m", "immediate", "stop"]
        # Stops the server when its standard input ends, even if this process is killed.
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
