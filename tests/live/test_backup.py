"""The commands of docs/backup.md restore lost data, and a cluster at a chosen time."""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text

from models.archiving import find_archiving
from models.payment.invoice_view import InvoiceView
from models.payment.lifecycle import PAID
from models.payment.tables import Invoice
from specd.db import Clock, Database
from specd.errors import DatabaseUnavailable
from tests.cli.runner import XPUB, Specd
from tests.live.running_server import ROOT, RunningServer, free_port
from tests.support import warm
from tests.support.fake_chain import FakeChain
from tests.support.payment.factories import CHAIN_ID, TOKEN, Merchant, make_invoice, make_merchant
from workers.chain_watcher import ChainWatcher

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
PAGE = ROOT / "docs" / "backup.md"
SOON_S = 60.0


def blocks(first: str, *others: str) -> list[str]:
    """Return the blocks of code of sections of the page."""
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    text = "".join(
        next(section for section in sections if section.startswith(f"{name}\n"))
        for name in (first, *others)
    )
    found = re.findall(r"(?:^    .*\n)+", text, re.MULTILINE)
    return [re.sub("^    ", "", block, flags=re.MULTILINE) for block in found]


class Site:
    """A server of PostgreSQL with the folders that the page names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.places = {
            "docs/deploy": str(ROOT / "docs" / "deploy"),
            "/backup/postgresql": str(folder / "backup"),
            "/usr/local/lib/specd": str(folder / "programs"),
            "/restored": str(folder / "restored"),
        }
        self.environment = {
            "SPECD_BACKUP": str(folder / "backup"),
            "SPECD_BACKUP_KEEP": "2",
            "SPECD_BACKUP_METRICS": str(folder / "backup" / "metrics.prom"),
        }
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "postgres", folder], check=True)
        folder.chmod(0o755)

    def placed(self, block: str, **more: str) -> str:
        for there, here in self.places.items():
            block = re.sub(f"(?<![-\\w.]){re.escape(there)}", here, block)
        for word, value in more.items():
            block = block.replace(word, value)
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
            **self.environment,
        }
        done = subprocess.run(
            [*(lent if os.geteuid() == 0 else []), *command],
            env=env, cwd=self.folder, capture_output=True, text=True, timeout=180,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout

    def install(self, script: str) -> None:
        """Run the installation, in which this user replaces root as the owner if it is not root."""
        if os.geteuid() != 0:
            script = script.replace("-o postgres -g postgres", "")
        subprocess.run(["bash", "-euc", script], cwd=self.folder, check=True)

    def bases(self) -> list[str]:
        """Return the times of the base backups, oldest first."""
        found = (self.folder / "backup").glob("base-*")
        return sorted(each.name.removeprefix("base-") for each in found)

    def first_wal(self, night: str) -> str:
        """Return the first WAL file that a base backup needs."""
        label = (self.folder / "backup" / f"base-{night}" / "backup_label").read_text()
        (found,) = re.findall(r"START WAL LOCATION: .* \(file (\w+)\)", label)
        return str(found)

    def oldest_wal(self) -> str:
        """Return the first WAL file in the archive."""
        found = (each.name for each in (self.folder / "backup" / "wal").iterdir())
        return min(name.removesuffix(".gz") for name in found if len(name) == 27)

    def metrics(self) -> str:
        return (self.folder / "backup" / "metrics.prom").read_text().strip()

    def invoices(self) -> set[str]:
        with closing(Database(self.url("payment"))) as database, database.reading() as reader:
            return set(reader.execute(select(Invoice.id)).scalars())

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
        command = [sys.executable, "-m", "specd._cli.main", *words]
        done = warm.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
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


def test_a_lost_cluster_comes_back_from_each_night(site: Site) -> None:
    install, settings, base, restore, after = blocks(
        "Archive the WAL", "Take a base backup", "Restore to a moment"
    )
    site.install(site.placed(install))
    site.run("initdb --pgdata data --auth trust --no-sync > /dev/null")
    site.start("data", site.placed(settings))
    site.run("createdb payment && createdb chat")
    site.specd("migrate")
    chain = FakeChain(started_at=datetime.now(UTC) - timedelta(minutes=5))
    with closing(Database(site.url("payment"))) as database:
        merchant = database.run(lambda s: make_merchant(s, now=Clock().now()))
        watch(database, chain)
        site.run(site.placed(base))
        (before_all,) = site.bases()
        before_base = make(database, merchant)
        site.environment["SPECD_BACKUP_METRICS"] = str(site.folder / "missing" / "metrics.prom")
        site.run(site.placed(base))  # a base backup is also made if no notification can be sent
        site.environment["SPECD_BACKUP_METRICS"] = str(site.folder / "backup" / "metrics.prom")
        before_moment = make(database, merchant)
        moment = pass_a_moment(database)
        lost = make(database, merchant)
        site.run(site.placed(base))
        first, second = site.bases()
        assert first > before_all, "of three nights two are kept"
        last_moment = pass_a_moment(database)
        chain.pay(before_base.deposit_address, 12_500_000, token=TOKEN, at=datetime.now(UTC))
        chain.pay(before_moment.deposit_address, 12_500_000, token=TOKEN, at=datetime.now(UTC))
        watch(database, chain)
        with database.reading() as reader:
            name = reader.execute(text("SELECT pg_walfile_name(pg_switch_wal())")).scalar_one()
        until_sql(database, "SELECT last_archived_wal >= :name FROM pg_stat_archiver", name=name)
        with database.reading() as reader:
            archiving = find_archiving(reader, database.dialect)
        assert archiving is not None
        assert not archiving.fails
        assert 0 <= archiving.last_s < SOON_S
    (last_base,) = re.findall(r"^specd_base_backup_timestamp_seconds (\d+)$", site.metrics())
    assert abs(time.time() - int(last_base)) < SOON_S
    assert site.oldest_wal() == site.first_wal(first)
    site.run("pg_ctl --pgdata data --mode immediate stop; rm -rf data")
    started = f"pg_ctl --options '-k {site.folder} -p {site.port} -c listen_addresses=' "

    site.run(site.placed(restore, NIGHT=second, MOMENT=last_moment).replace("pg_ctl ", started))
    wait_until_promoted(site)
    assert site.invoices() == {before_base.id, before_moment.id, lost.id}
    site.run(site.placed("pg_ctl --pgdata /restored --mode immediate stop; rm -rf /restored"))

    site.run(site.placed(restore, NIGHT=first, MOMENT=moment).replace("pg_ctl ", started))
    wait_until_promoted(site)
    for line in after.splitlines():
        site.specd(*line.split()[1:])
    assert site.invoices() == {before_base.id, before_moment.id}
    with closing(Database(site.url("payment"))) as database:
        again = make(database, merchant)
        assert again.deposit_address not in {
            each.deposit_address for each in (before_base, before_moment, lost)
        }
        watch(database, chain)
        with database.reading() as reader:
            paid = set(reader.execute(select(Invoice.id).where(Invoice.status == PAID)).scalars())
        assert paid == {before_base.id, before_moment.id}


def test_both_backups_of_a_machine_have_folders_of_their_own() -> None:
    """A folder that only `postgres` may enter has no subfolder that `specd` writes."""
    made = re.findall(r"install -d -o (\w+) -g \w+ -m 700 (.+)", PAGE.read_text())
    owners = {Path(folder): owner for owner, folders in made for folder in folders.split()}
    assert set(owners.values()) == {"postgres", "specd"}
    for folder, owner in owners.items():
        assert {owners.get(above, owner) for above in folder.parents} == {owner}


def test_the_archive_takes_the_same_file_twice_and_no_other_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "wal").mkdir()
    file = tmp_path / "pg_wal"

    def archive() -> int:
        command = [ROOT / "docs/deploy/postgresql/archive-wal", file, "000000010000000000000001"]
        env = {**os.environ, "SPECD_BACKUP": str(tmp_path)}
        return subprocess.run(command, env=env, check=False).returncode

    file.write_bytes(b"content")
    # The remains of an earlier attempt that crashed in the middle.
    (tmp_path / "wal" / "000000010000000000000001.part").write_bytes(b"half")
    assert archive() == 0
    assert archive() == 0
    file.write_bytes(b"another")
    assert archive() != 0
    (kept,) = (tmp_path / "wal").iterdir()
    assert gzip.decompress(kept.read_bytes()) == b"content"


def pass_a_moment(database: Database) -> str:
    """Return the current time of the database, which has passed when this returns."""
    with database.reading() as reader:
        moment = reader.execute(text("SELECT clock_timestamp()::text")).scalar_one()
    until_sql(database, "SELECT clock_timestamp() > cast(:moment AS timestamptz)", moment=moment)
    return str(moment)


def make(database: Database, merchant: Merchant) -> InvoiceView:
    now = Clock().now()
    return database.run(lambda session: make_invoice(session, merchant, now=now))


def watch(database: Database, chain: FakeChain) -> None:
    """Confirm the payments, and let the product's watcher read them."""
    chain.mine(3, at=datetime.now(UTC))
    watcher = ChainWatcher(database, chain, Clock(), chain_id=CHAIN_ID)
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


class Machine:
    """A machine with specd's program and its service's settings only."""

    def __init__(self, folder: Path, backups: Path, specd: Specd) -> None:
        self.specd = specd
        self.folder = folder
        self.settings = folder / "specd.env"
        self.places = {
            "docs/deploy": str(ROOT / "docs" / "deploy"),
            "/usr/local/lib/specd": str(folder / "programs"),
            "/opt/specd/.venv/bin/specd": str(folder / "specd"),
            "SPECD_PROJECT=/opt/specd": f"SPECD_PROJECT={ROOT}",
            "/etc/specd.env": str(self.settings),
            "/backup/specd": str(backups),
            "/var/lib/specd": str(folder / "lib"),
            "/run/specd": str(folder / "run"),
        }
        folder.mkdir()
        program = folder / "specd"
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m specd._cli.main "$@"\n'
        )
        program.chmod(0o755)
        wrapper = (ROOT / "docs" / "deploy" / "specd").read_text()
        wrapper = re.sub(r"setpriv .*-all", "", wrapper)
        (folder / "bin").mkdir()
        (folder / "bin" / "specd").write_text(self.placed(wrapper))
        (folder / "bin" / "specd").chmod(0o755)

    def placed(self, script: str) -> str:
        script = re.sub(r"-o \w+ -g \w+ ", "", script)
        for there, here in self.places.items():
            script = re.sub(f"(?<![-\\w.]){re.escape(there)}", here, script)
        return script

    def run(self, script: str, **more: str) -> str:
        """Run a script of the page, with specd in this process. Return the output of specd."""
        others: list[str] = []
        out = ""
        for line in self.placed(script).splitlines():
            if line.startswith("specd "):
                self._execute(others, more)
                others, out = [], out + self._command(shlex.split(line)[1:])
            else:
                others.append(line)
        self._execute(others, more)
        return out

    def _command(self, words: list[str]) -> str:
        with pytest.MonkeyPatch.context() as patched:
            for name, value in self.environment().items():
                patched.setenv(name, value)
            status, out, err = self.specd(*words)
        assert (status, err) == (0, ""), out + err
        return out

    def _execute(self, lines: list[str], more: dict[str, str]) -> None:
        env = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        env["PATH"] = f"{self.folder / 'bin'}:{env['PATH']}"
        done = subprocess.run(
            ["bash", "-euc", "\n".join(lines)], cwd=ROOT, env={**env, **more},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout

    def environment(self) -> dict[str, str]:
        lines = self.settings.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


def test_an_installation_comes_back_from_the_newest_night(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A chat that is written to during the backup is restored on another machine.

    The key is valid, files exist, and messages are those of one moment.
    """
    (install,) = blocks("Back up each night")
    (rehearsal,) = blocks("Rehearse")
    backups = tmp_path / "backups"
    first, second = (Machine(tmp_path / name, backups, Specd(capsys)) for name in ("1", "2"))
    first.settings.write_text(
        f"SPECD_DATA_DIR={tmp_path / 'data'}\nSPECD_BIND=127.0.0.1:{free_port()}\n"
        "SPECD_WORKERS=1\nSPECD_RATE_LIMITS=false\n"
    )
    first.run(f"{install}\nspecd migrate")
    first.run(f"specd payment create-project --name Shop --xpub {XPUB}")
    made = json.loads(
        first.run(
            "specd chat create-realm --json --name Acme --host acme.example"
            " --owner-email ada@acme.example --owner-name Ada"
        )
    )
    for old in ("2026-01-01", "2026-01-02"):
        (backups / old).mkdir()
    metrics = tmp_path / "metrics.prom"
    more = {"BACKUP_FOLDER": str(backups), "BACKUP_KEEP": "2", "BACKUP_METRICS": str(metrics)}
    environment = first.environment()
    with (
        RunningServer(
            tmp_path, environment, words=("serve", "--only", "chat"), as_given=True,
            port=int(environment["SPECD_BIND"].rpartition(":")[2]),
        ) as server,
        chat_client(server, made) as client,
    ):  # fmt: skip
        uploaded = client.post("/api/v1/user_uploads", files={"file": ("a.txt", b"the file")})
        path = uploaded.json()["url"]
        sent = [send(client, "before")]
        ended = threading.Event()

        def write() -> None:
            while not ended.is_set():
                sent.append(send(client, f"message {len(sent)}"))

        with ThreadPoolExecutor(1) as writers:
            writing = writers.submit(write)
            try:
                first.run("/usr/local/lib/specd/night-backup", **more)
            finally:
                ended.set()
            writing.result(SOON_S)
    (night,) = sorted(each.name for each in backups.iterdir() if each.name > "2026-01-02")
    assert (backups / "2026-01-02").exists()
    assert not (backups / "2026-01-01").exists()
    assert "specd_backup_timestamp_seconds" in metrics.read_text()
    shutil.rmtree(tmp_path / "data")
    shutil.rmtree(first.folder)

    out = second.run(rehearsal.replace("NIGHT", night))
    assert "Skipped 100000 addresses of 1 wallets" in out
    with (
        RunningServer(
            tmp_path, environment, words=("serve", "--only", "chat"), as_given=True,
            port=int(environment["SPECD_BIND"].rpartition(":")[2]),
        ) as server,
        chat_client(server, made) as client,
    ):  # fmt: skip
        assert second.environment() == environment
        assert client.get(path).content == b"the file"
        query: dict[str, str | int] = {"anchor": "newest", "num_before": 5000, "num_after": 0}
        found = [m["id"] for m in client.get("/api/v1/messages", params=query).json()["messages"]]
        ours = [number for number in found if number in sent]
        assert ours == sent[: len(ours)]
        assert ours, "the backup has what was written before it"
        assert send(client, "after") > sent[-1], "no number is handed out twice"


def chat_client(server: RunningServer, made: dict[str, Any]) -> httpx.Client:
    return httpx.Client(
        base_url=server.url, auth=(made["email"], made["api_key"]),
        headers={"Host": "acme.example"}, timeout=SOON_S, trust_env=False,
    )  # fmt: skip


def send(client: httpx.Client, text: str) -> int:
    sent = client.post(
        "/api/v1/messages",
        data={"type": "direct", "to": '["ada@acme.example"]', "content": text},
    )
    assert sent.status_code == 200, sent.text
    return int(sent.json()["id"])
