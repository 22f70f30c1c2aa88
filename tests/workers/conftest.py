"""Both databases for worker tests, empty and migrated, with one merchant's ledger in them."""

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from adapters.chain.fake import GENESIS, FakeChain
from models.clock import FrozenClock
from models.database import Database
from models.migrate import upgrade
from models.payment.tables import PaymentBase
from tests.workers.ledger import Ledger

POSTGRES = Path("/usr/lib/postgresql/15/bin")
PORT = 8490


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: these tests wait for thousands of fsyncs otherwise."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as path:
        yield Path(path)


@pytest.fixture(scope="session")
def migrated_file(memory: Path) -> Path:
    path = memory / "migrated.db"
    upgrade(f"sqlite:///{path}", "payment")
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a migrated database: `SPECD_TEST_POSTGRES_URL`, else on a server of our own."""
    if given := os.environ.get("SPECD_TEST_POSTGRES_URL"):
        upgrade(given, "payment")
        yield given
        return
    if not (POSTGRES / "initdb").exists():
        pytest.skip("PostgreSQL is not installed and SPECD_TEST_POSTGRES_URL is not set")
    with tempfile.TemporaryDirectory(prefix="specd-postgres-") as folder:
        as_owner = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
            as_owner = ["runuser", "-u", "postgres", "--"]

        def run(program: str, *arguments: str) -> None:
            command = [*as_owner, str(POSTGRES / program), "-D", f"{folder}/data", *arguments]
            subprocess.run(command, check=True, capture_output=True, cwd=folder)

        run("initdb", "-A", "trust", "-U", "specd", "--no-sync")
        options = f"-p {PORT} -k {folder} -h 127.0.0.1 -c fsync=off"
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            url = f"postgresql+psycopg://specd@127.0.0.1:{PORT}/postgres"
            upgrade(url, "payment")
            yield url
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, memory: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        path = memory / f"{uuid.uuid4()}.db"
        shutil.copy(request.getfixturevalue("migrated_file"), path)
        database = Database(f"sqlite:///{path}")
    else:
        database = Database(request.getfixturevalue("postgres"))
        tables = ", ".join(table.name for table in PaymentBase.metadata.sorted_tables)
        database.run(lambda session: session.execute(text(f"TRUNCATE {tables} CASCADE")))
    yield database
    database.dispose()


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(GENESIS)


@pytest.fixture
def ledger(database: Database, clock: FrozenClock) -> Ledger:
    return Ledger(database, clock)


@pytest.fixture
def chain() -> FakeChain:
    return FakeChain()
