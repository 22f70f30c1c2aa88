"""Exports of a large organization with killed workers, memory limits and concurrent requests.

`scripts/export` runs it at full size; test_export.py runs a part of it.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import random
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import orjson
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from adapters.file_store.directory import DirectoryStore
from benchmarks.chat import realm as bench
from models.chat.identity.api_keys import KeyMaker
from models.chat.tables import DataExport, Message, Realm, User, UserMessage
from specd._db import migrate
from specd._workers.loop import WorkerPool
from specd.db import Clock, Database
from specd.workers import Worker
from tests.live.running_server import RunningServer
from tests.support.archives import verify_archive
from workers.chat import NICENESS
from workers.exports import Exports

CLOCK = Clock()
DEADLINE_S = 1200
MIB = 1024


def run_worker(url: str, folder: str) -> None:
    """One process of the real worker, until it is killed."""
    pool = WorkerPool()
    exports = Exports(
        Database(url), CLOCK, Path(folder), DirectoryStore(Path(folder)), public_url="http://127.0.0.1",
        retention=timedelta(days=30), stopping=pool.stopping,
    )  # fmt: skip
    worker = Worker("exports", exports.try_work_one, poll_s=0.1, niceness=NICENESS)
    pool.run_until_signal([worker])


@contextmanager
def working(url: str, folder: Path) -> Iterator[Any]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.live.exports"])
    process = context.Process(target=run_worker, args=(url, str(folder)), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def memory_kib(pid: int, line: str) -> int:
    """Return `VmRSS` (current memory) or `VmHWM` (peak memory) of a process."""
    for text in Path(f"/proc/{pid}/status").read_text().splitlines():
        if text.startswith(line):
            return int(text.split()[1])
    return 0


class Owner:
    """The organization's owner, at a running server."""

    def __init__(self, server: RunningServer, key: str) -> None:
        self._client = httpx.Client(
            base_url=server.url, auth=("owner@bench.example", key), timeout=30
        )

    def ask(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        answer = self._client.request(method, f"/api/v1{path}", **more)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def exports(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("GET", "/export/realm")["exports"]
        return found

    def is_pending(self, export_id: int) -> bool:
        return any(each["id"] == export_id and each["pending"] for each in self.exports())

    def request(self, export_type: str) -> int:
        return int(self.ask("POST", "/export/realm", data={"export_type": export_type})["id"])

    def latencies_ms(self, until: Callable[[], bool]) -> list[float]:
        """Return the times of consecutive GET /users/me. `until` is called once a second."""
        took: list[float] = []
        asked_at = time.monotonic()
        while True:
            began = time.perf_counter()
            self.ask("GET", "/users/me")
            took.append((time.perf_counter() - began) * 1000)
            if time.monotonic() - asked_at >= 1:
                asked_at = time.monotonic()
                if until():
                    return took

    def download(self, export_id: int, target: Path) -> str:
        """Return the SHA-256 of the archive, fetched in two parts with separate links."""

        def link() -> str:
            (url,) = [each["export_url"] for each in self.exports() if each["id"] == export_id]
            return str(url)

        size = int(httpx.head(link()).headers["Content-Length"])
        digest = hashlib.sha256()
        with target.open("wb") as out:
            for span in (f"bytes=0-{size // 2}", f"bytes={size // 2 + 1}-"):
                with httpx.stream("GET", link(), headers={"Range": span}, timeout=60) as part:
                    assert part.status_code == 206
                    for chunk in part.iter_bytes():
                        out.write(chunk)
                        digest.update(chunk)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Report:
    """`wrong`: violated expectations. Memory in MiB, times in ms."""

    messages: int
    rows: int
    seconds: float
    archive_mib: float
    idle_mib: float
    peak_mib: float
    p99_idle: float
    p99_meanwhile: float
    kills: int
    wrong: list[str]


def campaign(url: str, directory: Path, *, messages: int, kills: int, seed: int = 7) -> Report:
    """Load a realm, export it during other requests, then export while workers are killed."""
    migrate.upgrade(url, "chat")
    bench.fill(url, bench.found(url), messages)
    database = Database(url)
    key = database.run(_grant)
    settings = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": bench.SECRET.decode(),
        "SPECD_CHAT_EXPORT_DIR": str(directory / "exports"),
        "SPECD_CHAT_EXPORT_MESSAGES_MAX": str(messages + 100),  # and some notices
        "SPECD_VALIDATE_RESPONSES": "false",
        "SPECD_WORKERS": "1",
    }
    wrong: list[str] = []
    with RunningServer(directory, settings, application="chat") as server:
        owner = Owner(server, key)
        clean = _measure(owner, url, directory, database, wrong)
        print(clean, wrong, flush=True)
        # A public export contains only the messages.
        run_s = clean["seconds"] * messages / clean["rows"]
        killed = _kill(owner, url, directory, database, kills, run_s, seed, wrong)
    with database.reading() as reader:
        kept = set(reader.execute(select(DataExport.archive)).scalars()) - {None}
    database.dispose()
    if {file.name for file in (directory / "exports").iterdir()} != kept:
        wrong.append("files that no export names, or none where one is named")
    return Report(messages=messages, kills=killed, wrong=wrong, **clean)


def _grant(session: Session) -> str:
    session.execute(update(Realm).values(owner_full_content_access=True))
    owner = session.scalars(select(User).where(User.delivery_email == "owner@bench.example")).one()
    return KeyMaker(bench.SECRET).key_of(owner)


def _measure(
    owner: Owner, url: str, directory: Path, database: Database, wrong: list[str]
) -> dict[str, Any]:
    folder = directory / "exports"
    with working(url, folder) as worker:
        ends = time.monotonic() + 5
        idle = owner.latencies_ms(lambda: time.monotonic() > ends)
        idle_kib = memory_kib(worker.pid, "VmRSS")
        began = time.monotonic()
        export_id = owner.request("full_without_consent")
        busy = owner.latencies_ms(
            lambda: not owner.is_pending(export_id) or time.monotonic() > began + DEADLINE_S
        )
        seconds = time.monotonic() - began
        peak_kib = memory_kib(worker.pid, "VmHWM")
    with database.reading() as reader:
        row = reader.execute(select(DataExport).where(DataExport.id == export_id)).one()
        counted = {
            "message": reader.execute(select(func.count()).select_from(Message)).scalar_one(),
            "user_message": reader.execute(
                select(func.count()).select_from(UserMessage)
            ).scalar_one(),
        }
    downloaded = directory / "downloaded.zip"
    if owner.download(export_id, downloaded) != row.archive_sha256:
        wrong.append("the download is not the archive")
    manifest = verify_archive(downloaded)
    rows = {file["name"].removesuffix(".jsonl"): file["rows"] for file in manifest["files"]}
    # One message is the notice about the export, sent when the archive was complete.
    counted["message"] -= 1
    counted["user_message"] -= counted["user_message"] - rows["user_message"] == 2 and 2
    wrong += [name for name, count in counted.items() if rows[name] != count]
    if _message_ids(downloaded) != rows["message"]:
        wrong.append("messages twice or out of order")
    return {
        "rows": manifest["rows"],
        "seconds": round(seconds, 1),
        "archive_mib": round(row.archive_bytes / MIB / MIB, 1),
        "idle_mib": round(idle_kib / MIB, 1),
        "peak_mib": round(peak_kib / MIB, 1),
        "p99_idle": round(_p99(idle), 2),
        "p99_meanwhile": round(_p99(busy), 2),
    }


def _message_ids(path: Path) -> int:
    """Return the number of messages, or -1 if the ids do not ascend."""
    count = last = 0
    with zipfile.ZipFile(path) as archive, archive.open("message.jsonl") as lines:
        for line in lines:
            message_id = orjson.loads(line)["id"]
            if message_id <= last:
                return -1
            count, last = count + 1, message_id
    return count


def _kill(
    owner: Owner, url: str, directory: Path, database: Database, kills: int, seconds: float,
    seed: int, wrong: list[str],
) -> int:  # fmt: skip
    """Kill workers at random times of a run, four times for each export: the fifth attempt is the
    last.
    """
    chance, folder, done = random.Random(seed), directory / "exports", 0
    while done < kills:
        export_id = owner.request("public")
        for _ in range(min(4, kills - done)):
            with working(url, folder) as worker:
                worker.join(chance.uniform(0.05, seconds))
            done += 1
            print(f"kill {done}", [file.name[-9:] for file in folder.iterdir()], flush=True)
            judge(database, folder, export_id, wrong)
            database.run(end_leases)
        with working(url, folder):
            deadline = time.monotonic() + DEADLINE_S
            while owner.is_pending(export_id) and time.monotonic() < deadline:
                time.sleep(0.1)
            while len(list(folder.iterdir())) > _kept(database) and time.monotonic() < deadline:
                time.sleep(0.1)  # the sweep runs every ten seconds
        if not judge(database, folder, export_id, wrong):
            wrong.append(f"export {export_id} never came to its end")
    return done


def end_leases(session: Session) -> None:
    """Let a minute pass, after which the claims of killed workers have expired."""
    started = update(DataExport).where(DataExport.state == "started")
    session.execute(started.values(next_try_at=CLOCK.now()))


def _kept(database: Database) -> int:
    with database.reading() as reader:
        kept = select(func.count()).where(DataExport.archive.is_not(None))
        return int(reader.execute(kept).scalar_one())


def judge(database: Database, folder: Path, export_id: int, wrong: list[str]) -> bool:
    """Return whether it has succeeded. The archive of a successful export must be complete."""
    with database.reading() as reader:
        row = reader.execute(select(DataExport).where(DataExport.id == export_id)).one()
    if row.state != "succeeded":
        return False
    digest = hashlib.sha256((folder / row.archive).read_bytes()).hexdigest()
    if (
        digest != row.archive_sha256
        or verify_archive(folder / row.archive)["rows"] != row.rows_done
    ):
        wrong.append(f"export {export_id} is called complete and is not")
    return True


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]
