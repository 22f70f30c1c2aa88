"""The worker that deletes files, and the remains of killed processes."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from adapters.file_store.directory import DirectoryStore
from adapters.file_store.store import StoreUnavailable
from models.chat.tables import Attachment, Realm
from models.chat.uploads.names import THUMBNAIL
from specd.db import Database
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import picture
from workers.uploads import Uploads

DAY_S = 86_400.0
RETENTION = timedelta(days=35)


@pytest.fixture
def folder(chat_app: ChatApp) -> Path:
    return chat_app.settings.chat_upload_dir


@pytest.fixture
def worker(chat_database: Database, clock: FrozenClock, folder: Path) -> Uploads:
    return Uploads(
        chat_database, clock, DirectoryStore(folder / "files"), folder / "arriving",
        retention=RETENTION, rest=lambda seconds: None,
    )  # fmt: skip


def upload(client: ChatClient) -> str:
    return str(client.post("/user_uploads", file=SentFile())["url"])


def stored(folder: Path, url: str, clock: FrozenClock, *, age_s: float = 0.0) -> Path:
    """Store a file with an earlier time and return its path."""
    realm, filename = url.removeprefix("/user_uploads/").split("/")
    path = folder / "files" / realm / filename[:2] / filename[:32]
    at = clock.now().timestamp() - age_s
    if path.exists():
        os.utime(path, (at, at))
    return path


def rows(database: Database) -> list[str]:
    with database.reading() as reader:
        return list(reader.execute(select(Attachment.handle).order_by(Attachment.id)).scalars())


def work(worker: Uploads) -> None:
    while worker.try_work_one():
        pass


def test_a_deleted_file_goes_at_once(
    chat: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock, chat_database: Database
) -> None:
    url, other = upload(chat), upload(chat)
    first, second = chat.get("/attachments")["attachments"]
    assert chat.delete(f"/attachments/{first['id']}")["result"] == "success"
    work(worker)
    assert not stored(folder, url, clock).exists()
    assert stored(folder, other, clock).exists()
    assert rows(chat_database) == [second["path_id"].partition("/")[2][:32]]
    assert chat.get("/attachments")["upload_space_used"] == second["size"]


def test_a_thumbnail_lives_as_long_as_its_picture(
    chat: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock
) -> None:
    file = SentFile("red.png", picture("PNG"), "image/png")
    url = str(chat.post("/user_uploads", file=file)["url"])
    path = stored(folder, url, clock, age_s=DAY_S)
    thumbnail = path.with_name(path.name + THUMBNAIL)
    os.utime(thumbnail, (path.stat().st_mtime,) * 2)
    assert worker.sweep() == 0
    assert path.exists()
    assert thumbnail.exists()
    [record] = chat.get("/attachments")["attachments"]
    assert chat.delete(f"/attachments/{record['id']}")["result"] == "success"
    work(worker)
    assert not path.exists()
    assert not thumbnail.exists()


def test_a_row_outlives_its_file_and_not_the_other_way_round(
    chat: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock, chat_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A worker that was killed between the two steps continues, and an unavailable store keeps the
    row.
    """
    url = upload(chat)
    [record] = chat.get("/attachments")["attachments"]
    chat.delete(f"/attachments/{record['id']}")

    def fail(self: object, key: str) -> None:
        raise StoreUnavailable("down")

    with monkeypatch.context() as broken:
        broken.setattr(DirectoryStore, "delete", fail)
        with pytest.raises(StoreUnavailable):
            worker.try_remove_one()
    assert len(rows(chat_database)) == 1
    stored(folder, url, clock).unlink()  # the state after the worker was killed
    assert worker.try_remove_one()
    assert rows(chat_database) == []
    assert not worker.try_remove_one()


def test_what_no_message_shows_goes_in_time(
    chat: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock, cast: Cast,
    chat_database: Database,
) -> None:  # fmt: skip
    for_ever = update(Realm).values(message_content_delete_limit_seconds=None)
    chat_database.run(lambda session: session.execute(for_ever))
    urls = [upload(chat) for _ in range(4)]
    to = [cast.othello.id]
    said = [
        chat.post("/messages", type="direct", to=to, content=f"[f]({url})")["id"]
        for url in urls[:2]
    ]
    later = int(clock.now().timestamp() + 200 * DAY_S)
    chat.post(
        "/scheduled_messages", type="direct", to=to, content=f"[f]({urls[2]})",
        scheduled_delivery_timestamp=later,
    )  # fmt: skip
    clock.advance(seconds=20 * DAY_S)
    assert chat.delete(f"/messages/{said[0]}")["result"] == "success"
    for days, left in ((16, [0, 1, 2]), (20, [1, 2]), (100, [1, 2])):
        clock.advance(seconds=days * DAY_S)
        work(worker)
        assert [stored(folder, url, clock).exists() for url in urls] == [
            n in left for n in range(len(urls))
        ], days
    assert len(rows(chat_database)) == 2


def test_pictures_of_people_are_kept_and_those_of_nobody_swept(
    chat: ChatClient, as_othello: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock,
    cast: Cast, as_iago: ChatClient,
) -> None:  # fmt: skip
    def upload_picture(client: ChatClient) -> list[Path]:
        file = SentFile("me.png", picture("PNG"), "image/png")
        handle = client.post("/users/me/avatar", file=file)["avatar_url"].split("/")[-1][:32]
        paths = sorted((folder / "files" / str(cast.realm_id) / handle[:2]).glob(f"{handle}.*"))
        assert len(paths) == 2
        for path in paths:
            os.utime(path, (clock.now().timestamp() - DAY_S,) * 2)
        return paths

    mine, theirs = upload_picture(chat), upload_picture(as_othello)
    assert worker.sweep() == 0
    path, actions = f"/users/{cast.othello.id}", {"delete_profile": True}
    assert as_iago.delete(path, actions=actions)["result"] == "success"
    assert worker.sweep() == 2
    assert [path.exists() for path in (*mine, *theirs)] == [True, True, False, False]
    assert chat.delete("/users/me/avatar")["result"] == "success"
    assert worker.sweep() == 0


def test_what_no_row_names_is_swept(
    chat: ChatClient, worker: Uploads, folder: Path, clock: FrozenClock
) -> None:
    """The remains of a killed request: a pending file, or a stored file without its row."""
    kept = stored(folder, upload(chat), clock, age_s=2 * DAY_S)
    files = {}
    for age_s in (60.0, 2 * DAY_S):
        orphan = kept.parent.parent / "00" / f"{age_s:.0f}".rjust(32, "0")
        for path in (orphan, folder / "arriving" / f"tmp{age_s:.0f}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"left")
            at = clock.now().timestamp() - age_s
            os.utime(path, (at, at))
            files[path] = age_s < DAY_S
    worker.sweep()
    assert {path: path.exists() for path in files} == files
    assert kept.exists()
    for path in files:  # the next test uses the same folder
        path.unlink(missing_ok=True)
