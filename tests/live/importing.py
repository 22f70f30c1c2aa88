"""Imports of a large organization by the real command: speed, memory, and kills.

`scripts/import` runs it at full size; test_import.py runs a part of it.
"""

from __future__ import annotations

import json
import os
import random
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path
from unittest.mock import patch

from sqlalchemy import column, insert, select, table

from adapters.file_store.directory import DirectoryStore
from benchmarks.chat import realm as bench
from models.chat.imports.rows import TABLES
from models.chat.tables import (
    Attachment,
    AttachmentMessage,
    ChatImport,
    Realm,
    StarredMessage,
    Topic,
)
from models.chat.uploads.names import key_of
from specd._db import migrate
from specd.db import Clock, Database, table_of
from tests.contract.round_trips.comparing import Comparison
from tests.live.exports import memory_kib
from tests.live.running_server import ROOT
from workers.exports import Exports

CLOCK = Clock()
FILE_BYTES = 5_000
MADE_ANEW = {
    *("api_key_nonce", "api_key_sha256", "handle", "sealed_secret", "sealed_token", "token_sha256"),
}
SEARCH = {"sqlite": ("rowid", "topic", "content"), "postgresql": ("message_id", "vector")}
"""The columns of the index."""
NEW_HOST = "moved.example"
POLL_S = 0.02


def make_archive(url: str, folder: Path, *, messages: int, files: int, recent: int) -> Path:
    """Create the archive of an organization of 1,000 users.

    All subscribers have copies of the newest `recent` messages.
    """
    migrate.upgrade(url, "chat")
    with patch.object(bench, "RECENT", recent):
        bench.fill(url, bench.found(url), messages)
    database = Database(url)
    try:
        upload(database, folder, messages, files)
        return export(database, folder, bench.HOST)
    finally:
        database.dispose()


def upload(database: Database, folder: Path, messages: int, files: int) -> None:
    store, arriving = DirectoryStore(folder / "chat" / "files"), folder / "arriving"
    arriving.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(files):
        handle = secrets.token_hex(16)
        path = arriving / handle
        path.write_bytes(random.Random(number).randbytes(FILE_BYTES))
        store.put(key_of(1, handle), path)
        rows.append(
            {
                "id": number + 1, "realm_id": 1, "owner_id": 1 + number % 500, "handle": handle,
                "name": f"file {number}.bin", "path_name": f"file-{number}.bin",
                "size": FILE_BYTES, "media_type": "application/octet-stream",
                "created_at": bench.BEGAN,
            }
        )  # fmt: skip
    shown = [
        {"attachment_id": row["id"], "message_id": 1 + number % messages}
        for number, row in enumerate(rows)
    ]
    if rows:
        database.run(
            lambda session: (
                session.connection().execute(insert(table_of(Attachment)), rows),
                session.connection().execute(insert(table_of(AttachmentMessage)), shown),
            )
        )


def export(database: Database, folder: Path, host: str) -> Path:
    maker = Exports(
        database, CLOCK, folder / "exports", DirectoryStore(folder / "chat" / "files"),
        public_url="http://127.0.0.1", retention=timedelta(days=30), stopping=threading.Event(),
    )  # fmt: skip
    with database.reading() as reader:
        realm_id = reader.execute(select(Realm.id).where(Realm.host == host)).scalar_one()
    with patch("workers.exports.REST", 0):
        run, written = maker.export_now(realm_id, "full_without_consent")
    assert written is not None
    return folder / "exports" / run.archive


def environment(url: str, folder: Path) -> Mapping[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SPECD_DATA_DIR": str(folder),
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": bench.SECRET.decode(),
        "SPECD_CHAT_UPLOAD_DIR": str(folder / "chat"),
    }


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of one command. `cpu_s`: its CPU time; `peak_mib`: its peak memory."""

    status: int
    out: str
    err: str
    seconds: float
    cpu_s: float
    peak_mib: float


def command(
    url: str, folder: Path, *words: str, kill_if: Callable[[], bool] = lambda: False
) -> Ended:
    """Run `specd chat import ...`, and kill it when `kill_if` returns true."""
    argv = [sys.executable, "-m", "specd._cli.main", "chat", "import", *words, "--json"]
    began, before = time.monotonic(), _used_by_children()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            argv, env=dict(environment(url, folder)), cwd=ROOT, stdout=out, stderr=err
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_kib(process.pid, "VmHWM") / 1024)
            if kill_if():
                process.send_signal(signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_S)
        seconds, used = time.monotonic() - began, _used_by_children() - before
        out.seek(0)
        err.seek(0)
        return Ended(int(process.returncode or 0), out.read(), err.read(), seconds, used, peak)


def _used_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def import_killed(
    url: str,
    folder: Path,
    archive: Path,
    *,
    kills: int = sys.maxsize,
    grace_s: tuple[float, float] = (0, 0.3),
    seed: int = 0,
) -> int:
    """Import an archive.

    Kill the command at a random time after each progress. Return the number of kills.
    """
    chance, killed = random.Random(seed), 0
    words = (str(archive), "--host", NEW_HOST)
    database = Database(url)

    def progress() -> list[tuple[int, int]]:
        with database.reading() as reader:
            query = select(table_of(ChatImport).c.step, table_of(ChatImport).c.done)
            return [(row.step, row.done) for row in reader.execute(query)]

    def kill_after_progress() -> Callable[[], bool]:
        before, wait_s = progress(), chance.uniform(*grace_s)
        moved_at: list[float] = []

        def kill() -> bool:
            if not moved_at and progress() != before:
                moved_at.append(time.monotonic())
            return bool(moved_at) and time.monotonic() - moved_at[0] >= wait_s

        return kill

    try:
        while killed < kills:
            ended = command(url, folder, *words, kill_if=kill_after_progress())
            if ended.status == 0:
                break
            assert ended.status == -signal.SIGKILL, ended.err
            killed += 1
    finally:
        database.dispose()
    ended = command(url, folder, *words)
    assert ended.status == 0, ended.err
    assert json.loads(ended.out.splitlines()[-1])["host"] == NEW_HOST
    return killed


def differences(one: str, other: str) -> list[str]:
    """Return the tables of two databases whose rows differ after separate imports of one archive.

    Secrets and the times of the imports are ignored.
    """
    databases = Database(one), Database(other)
    search = table("message_search", *map(column, SEARCH[databases[0].dialect]))
    found = []
    try:
        for each in (*TABLES, table_of(StarredMessage), table_of(Topic), search):
            columns = [its for its in each.c if its.name not in MADE_ANEW]
            query = select(*columns).order_by(*(each.primary_key or columns))
            if "kind" in each.c:
                query = query.where(each.c.kind != "realm_imported")
            with (
                databases[0].snapshot(may_take_long=True) as first,
                databases[1].snapshot(may_take_long=True) as second,
            ):
                streams = [
                    db.execution_options(yield_per=5000).execute(query) for db in (first, second)
                ]
                pairs = enumerate(zip_longest(*streams), 1)
                number = next((at for at, (a, b) in pairs if a != b), None)
            if number is not None:
                found.append(f"{each.name}, row {number}")
    finally:
        for database in databases:
            database.dispose()
    return found


def compare(url: str, folder: Path, archive: Path, host: str = NEW_HOST) -> Comparison:
    """The archive with the result of its import."""
    database = Database(url)
    try:
        return Comparison(archive, export(database, folder, host), hosts=(bench.HOST, host))
    finally:
        database.dispose()
