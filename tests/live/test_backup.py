"""docs/backup.md as it stands: a cluster is lost, and comes back as it was at a moment."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, text

from models.clock import SystemClock
from models.database import Database
from models.errors import DatabaseUnavailable
from models.payment.invoice_view import InvoiceView
from models.payment.lifecycle import PAID
from models.payment.tables import Invoice
from tests.live.running_server import ROOT, free_port
from tests.support.fake_chain import FakeChain
from tests.support.payment.factories import CHAIN_ID, TOKEN, Merchant, make_invoice, make_merchant
from workers.chain_watcher import ChainWatcher

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
PAGE = ROOT / "docs" / "backup.md"
SOON_S = 60.0


def blocks() -> list[str]:
    """Return the page's blocks of code."""
    found = re.findall(r"(?:^    .*\n)+", PAGE.read_text(), re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in found]


class Site:
    """A server of PostgreSQL with the folders that the page names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.places = {
            "/backup": str(folder / "backup"),
            "/restored": str(folder / "restored"),
        }
        (folder / "backup" / "wal").mkdir(parents=True)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "postgres", folder], check=True)
        folder.chmod(0o755)

    def placed(self, block: str, **more: str) -> str:
        for there, here in {**self.places, **more}.items():
            block = block.replace(there, here)
        return block

    def run(self, script: str) -> None:
        """Run a shell script as `postgres`, with PostgreSQL's programs."""
        lent = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        command = ["bash", "-euc", script]
        env = {
            **os.environ,
            "PATH": f"{PROGRAMS[-1].parent}:{os.environ['PATH']}",
            "PGHOST": str(self.folder),
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
        }
        done = subprocess.run(
            [*(lent if os.geteuid() == 0 else []), *command],
            env=env, cwd=self.folder, capture_output=True, text=True, timeout=180,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout

    def start(self, data: str, settings: str = "") -> None:
        log = shlex.quote(str(self.folder / "log"))
        options = f"-k {self.folder} -p {self.port} -c listen_addresses="
        if settings:
            with (self.folder / data / "postgresql.conf").open("a") as file:
                file.write(settings)
        self.run(f"pg_ctl --pgdata {data} --log {log} --options '{options}' --wait start")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}&port={self.port}"

    def specd(self, *words: str) -> str:
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SPECD_")},
            "PYTHONPATH": str(ROOT),
            "SPECD_DATA_DIR": str(self.folder / "specd"),
            "SPECD_PAYMENT_DATABASE_URL": self.url("payment"),
            "SPECD_CHAT_DATABASE_URL": self.url("chat"),
        }
        command = [sys.executable, "-m", "cli.main", *words]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def site() -> Iterator[Site]:
    if not PROGRAMS:
        pytest.skip("PostgreSQL: not installed")
    folder = Path(tempfile.mkdtemp(prefix="specd-bk-"))
    site = Site(folder)
    yield site
    for data in ("data", "restored"):
        with suppress(AssertionError):
            site.run(f"pg_ctl --pgdata {data} --mode immediate stop")
    shutil.rmtree(folder, ignore_errors=True)


def test_a_lost_cluster_comes_back_as_it_was_at_a_moment(site: Site) -> None:
    settings, base, restore, after = blocks()
    site.run("initdb --pgdata data --auth trust --no-sync > /dev/null")
    site.start("data", site.placed(settings))
    site.run("createdb payment && createdb chat")
    site.specd("migrate")
    chain = FakeChain(started_at=datetime.now(UTC) - timedelta(minutes=5))
    with closing(Database(site.url("payment"))) as database:
        merchant = database.run(lambda s: make_merchant(s, now=SystemClock().now()))
        watch(database, chain)
        before_base = make(database, merchant)
        site.run(site.placed(base))
        before_moment = make(database, merchant)
        with database.reading() as reader:
            moment = reader.execute(text("SELECT clock_timestamp()::text")).scalar_one()
        until_sql(
            database, "SELECT clock_timestamp() > cast(:moment AS timestamptz)", moment=moment
        )
        lost = make(database, merchant)
        chain.pay(before_base.deposit_address, 12_500_000, token=TOKEN, at=datetime.now(UTC))
        chain.pay(before_moment.deposit_address, 12_500_000, token=TOKEN, at=datetime.now(UTC))
        watch(database, chain)
        with database.reading() as reader:
            name = reader.execute(text("SELECT pg_walfile_name(pg_switch_wal())")).scalar_one()
        until_sql(database, "SELECT last_archived_wal >= :name FROM pg_stat_archiver", name=name)
    site.run("pg_ctl --pgdata data --mode immediate stop; rm -rf data")
    started = f"pg_ctl --options '-k {site.folder} -p {site.port} -c listen_addresses=' "
    site.run(site.placed(restore, MOMENT=moment).replace("pg_ctl ", started))
    wait_until_promoted(site)
    for line in after.splitlines():
        site.specd(*line.split()[1:])
    with closing(Database(site.url("payment"))) as database:
        with database.reading() as reader:
            found = set(reader.execute(select(Invoice.id)).scalars())
        assert {before_base.id, before_moment.id} <= found
        assert lost.id not in found
        again = make(database, merchant)
        assert again.deposit_address not in {
            each.deposit_address for each in (before_base, before_moment, lost)
        }
        watch(database, chain)
        with database.reading() as reader:
            paid = set(reader.execute(select(Invoice.id).where(Invoice.status == PAID)).scalars())
        assert paid == {before_base.id, before_moment.id}


def make(database: Database, merchant: Merchant) -> InvoiceView:
    now = SystemClock().now()
    return database.run(lambda session: make_invoice(session, merchant, now=now))


def watch(database: Database, chain: FakeChain) -> None:
    """Confirm what was paid, and have the product's own watcher read it all."""
    chain.mine(3, at=datetime.now(UTC))
    watcher = ChainWatcher(database, chain, SystemClock(), chain_id=CHAIN_ID)
    while watcher.try_watch_one():
        pass


def until_sql(database: Database, statement: str, **values: object) -> None:
    deadline = time.monotonic() + SOON_S
    while True:
        with suppress(DatabaseUnavailable), database.reading() as reader:
            if reader.execute(text(statement), values).scalar():
                return
        assert time.monotonic() < deadline, statement
        time.sleep(0.05)


def wait_until_promoted(site: Site) -> None:
    with closing(Database(site.url("payment"))) as database:
        until_sql(database, "SELECT NOT pg_is_in_recovery()")
