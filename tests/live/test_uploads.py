"""Uploads to a real gunicorn need little memory at any size, and are complete or rejected."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import httpx
import pytest
from sqlalchemy import select

from adapters.file_store.directory import DirectoryStore
from models.chat.tables import Attachment
from models.chat.uploads.names import key_of
from specd.db import Clock, Database
from tests.live.running_server import RunningServer
from tests.support.chat.people import SECRET, Cast, Member, make_cast
from tests.support.databases import place_migrated
from tests.support.pictures import endless_jpeg

MIB = 1 << 20
PARALLEL = 16
TOTAL_MIB = int(os.environ.get("SPECD_TEST_UPLOAD_MIB", "256"))
"""The number of concurrent uploads; docs/measurements.md has the figure for 1024."""
GROWTH_MAX_MIB = 64
KILLS = 4
HELD_UP = {"/metrics": (0.5, 1.0)}
"""The delay of half and of all other responses, as a fraction of the time for reading an image
alone.

A client that waits for an image would be delayed that long. Most responses are fast, and metrics
use CPU time, which a busy machine shares.
"""
SOON = (0.05, 0.5)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(place_migrated(tmp_path / "chat.db", "chat"))
    yield database
    database.dispose()


@pytest.fixture
def cast(database: Database) -> Cast:
    return database.run(lambda session: make_cast(session, now=Clock().now()))


@pytest.fixture
def environment(database: Database) -> dict[str, str]:
    return {
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_WORKERS": "2",
        "SPECD_CHAT_MAX_FILE_UPLOAD_SIZE_MIB": "1024",
    }


def pieces(size: int) -> Iterator[bytes]:
    """Return a form with one file of that many bytes."""
    yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="f.bin"\r\n\r\n'
    piece = os.urandom(64 * 1024)
    for at in range(0, size, len(piece)):
        yield piece[: size - at]
    yield b"\r\n--x--\r\n"


def upload(server: RunningServer, member: Member, size: int) -> httpx.Response:
    return httpx.post(
        f"{server.url}/api/v1/user_uploads",
        auth=(member.email, member.key),
        headers={"Host": member.host, "Content-Type": "multipart/form-data; boundary=x"},
        content=pieces(size),
        timeout=300,
        trust_env=False,
    )


def memory_mib(pids: list[int]) -> float:
    """Return the memory of processes that is not backed by files."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                total += int(line.split()[1])
    return total / 1024


def test_memory_does_not_grow_with_files(
    tmp_path: Path, environment: dict[str, str], cast: Cast
) -> None:
    size = TOTAL_MIB * MIB // PARALLEL
    with RunningServer(tmp_path, environment, application="chat") as server:
        for _ in range(8):
            assert upload(server, cast.hamlet, MIB).status_code == 200
        pids = server.worker_pids()
        before = highest = memory_mib(pids)
        began = time.monotonic()
        with ThreadPoolExecutor(PARALLEL) as clients:
            under_way = [clients.submit(upload, server, cast.hamlet, size) for _ in range(PARALLEL)]
            while not all(each.done() for each in under_way):
                highest = max(highest, memory_mib(pids))
                time.sleep(0.02)
        took = time.monotonic() - began
        answers = [each.result() for each in under_way]
        assert [answer.status_code for answer in answers] == [200] * PARALLEL
        print(f"{TOTAL_MIB} MiB in {took:.1f} s: {before:.0f} MiB, at most {highest:.0f} MiB")
        assert highest - before <= GROWTH_MAX_MIB
        path = answers[0].json()["url"]
        got = httpx.get(
            f"{server.url}{path}",
            auth=(cast.hamlet.email, cast.hamlet.key),
            headers={"Host": cast.hamlet.host},
            timeout=60,
            trust_env=False,
        )
        assert len(got.content) == size


def test_a_kill_leaves_no_row_without_a_file(
    tmp_path: Path, environment: dict[str, str], cast: Cast, database: Database
) -> None:
    stored: list[str] = []
    ended = threading.Event()

    def go_on() -> None:
        while not ended.is_set():
            try:
                answer = upload(server, cast.hamlet, 3 * MIB)
            except httpx.TransportError:
                continue
            if answer.status_code == 200:
                stored.append(answer.json()["url"].rpartition("/")[2][:32])

    with RunningServer(tmp_path, environment, application="chat") as server:
        with ThreadPoolExecutor(6) as clients:
            under_way = [clients.submit(go_on) for _ in range(6)]
            for _ in range(KILLS):
                time.sleep(0.7)
                for pid in server.worker_pids():
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.7)
            ended.set()
        for each in under_way:
            each.result()
    with database.reading() as reader:
        rows = reader.execute(select(Attachment.realm_id, Attachment.handle, Attachment.size))
        kept = {handle: (realm_id, size) for realm_id, handle, size in rows}
    store = DirectoryStore(tmp_path / "uploads" / "files")
    for handle, (realm_id, size) in kept.items():
        assert sum(map(len, store.read(key_of(realm_id, handle)))) == size == 3 * MIB
    assert stored
    assert set(stored) <= set(kept), "what was answered with success is there"


def test_hostile_pictures_hold_up_nobody(
    tmp_path: Path, environment: dict[str, str], cast: Cast
) -> None:
    """Each image is as large as the limits allow, with the maximum number of scans."""
    hostile = endless_jpeg(85, 8_000)
    people = (cast.iago, cast.hamlet, cast.cordelia)

    def send(member: Member) -> int:
        return httpx.post(
            f"{server.url}/api/v1/user_uploads",
            auth=(member.email, member.key),
            headers={"Host": member.host},
            files={"file": ("hostile.jpg", hostile, "image/jpeg")},
            timeout=60,
            trust_env=False,
        ).status_code

    def ask(client: httpx.Client, path: str) -> float:
        began = time.monotonic()
        answer = client.get(
            path, auth=(cast.iago.email, cast.iago.key), headers={"Host": cast.iago.host}
        )
        assert answer.status_code == 200, answer.text
        return time.monotonic() - began

    paths = ("/readyz", "/api/v1/users/me", "/metrics", "/api/v1/users/me/subscriptions")
    settings = {**environment, "SPECD_WORKERS": "1"}
    with (
        RunningServer(tmp_path, settings, application="chat") as server,
        httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client,
        ThreadPoolExecutor(len(people)) as clients,
    ):
        began = time.monotonic()
        assert send(cast.hamlet) == 200
        alone = time.monotonic() - began
        rest = {path: [ask(client, path) for _ in range(25)] for path in paths}
        meanwhile: dict[str, list[float]] = {path: [] for path in paths}
        under_way = [clients.submit(send, member) for member in people]
        while not all(each.done() for each in under_way):
            for path in paths:
                meanwhile[path].append(ask(client, path))
    assert [each.result() for each in under_way] == [200] * len(people)
    for path, its in meanwhile.items():
        assert len(its) > 10, path
        later = sorted(seconds - median(rest[path]) for seconds in its)
        most, latest = median(later), later[-1]
        print(f"{path}: {most:.3f} s later, at most {latest:.3f} s, of {alone:.1f} s")
        half, all_of_them = HELD_UP.get(path, SOON)
        assert most < half * alone, path
        assert latest < all_of_them * alone, path
