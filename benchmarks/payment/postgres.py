"""A temporary PostgreSQL server with a separate directory and port."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from benchmarks.load.processes import Server

USER = "postgres"


class PostgresMissing(Exception):
    """No PostgreSQL programs are installed on this machine."""


def find_programs() -> Path:
    """Return the directory of the newest installed initdb and postgres. Raise `PostgresMissing`."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if installed:
        return installed[-1].parent
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    raise PostgresMissing("install PostgreSQL, or give --database sqlite")


@contextmanager
def running_postgres(
    *, port: int, core: int | None, preload: str | None = None, keep: Path | None = None
) -> Iterator[str]:
    """Yield the SQLAlchemy URL prefix (up to the database name) of a server with default
    durability.

    `preload` is a library that the server loads at its start. `keep` is a directory that is not
    deleted, and may contain the data of an earlier server.

    PostgreSQL does not run as root, so root starts it as the user `postgres`.
    """
    user = USER if os.geteuid() == 0 else None
    programs = find_programs()
    directory = keep or Path(tempfile.mkdtemp(prefix="specd-postgres-"))
    directory.mkdir(parents=True, exist_ok=True)
    try:
        if user:
            shutil.chown(directory, user)
        data = directory / "data"
        if not data.exists():
            subprocess.run(
                [programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8"],
                check=True,
                stdout=subprocess.DEVNULL,
                user=user,
                cwd=directory,
            )
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port)]
        command += ["-k", str(directory), "-c", "listen_addresses=127.0.0.1"]
        command += ["-c", "max_connections=200", "-c", "fsync=on", "-c", "synchronous_commit=on"]
        if preload is not None:
            command += ["-c", f"shared_preload_libraries={preload}"]
        log = directory / "server.log"
        fast = signal.SIGINT  # "fast shutdown": does not wait for clients
        with Server(
            "PostgreSQL", command, port=port, log=log, core=core, user=user, stop_signal=fast
        ):
            prefix = f"postgresql+psycopg://{USER}@127.0.0.1:{port}/"
            wait_until_ready(prefix, deadline=time.monotonic() + 20)
            yield prefix
    finally:
        if keep is None:
            shutil.rmtree(directory, ignore_errors=True)


def connect(prefix: str, name: str = USER) -> psycopg.Connection:
    return psycopg.connect(f"{prefix}{name}".replace("+psycopg", ""), autocommit=True)


def wait_until_ready(prefix: str, *, deadline: float) -> None:
    """Wait until it accepts connections. It listens earlier ("the database system is
    starting up").
    """
    while True:
        try:
            connect(prefix).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def create_database(prefix: str, name: str) -> str:
    """Create an empty database. Return its URL."""
    with connect(prefix) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return prefix + name
