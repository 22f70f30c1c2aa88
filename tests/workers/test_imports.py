"""Archives become organizations, with any interruption."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from PIL import Image
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from adapters.archive_reader import ArchiveRefused
from adapters.file_store.directory import DirectoryStore
from models.chat.accounts.avatars import keys_of
from models.chat.base import ChatBase
from models.chat.common import audit
from models.chat.imports import runs
from models.chat.imports.completing import hidden_host
from models.chat.imports.errors import NoSuchImport, UnfinishedImport
from models.chat.imports.runs import Import, ImportTaken
from models.chat.organization.errors import HostInUse, InvalidRealmName
from models.chat.organization.realms import create_realm
from models.chat.tables import Channel, Message, Realm, User, UserGroup
from models.chat.uploads import names
from specd.db import Database
from tests.conftest import NOW
from tests.contract.round_trips.comparing import Comparison
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.forging import forge_file
from tests.support.chat.importing import Installation, member_at, store_of
from tests.support.chat.moved import HOUR, WITH_EVERYTHING, Everything
from tests.support.chat.people import KEYS, Cast
from tests.support.chat.prepared import Preparation
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import picture
from workers import imports
from workers.scheduled_delivery import ScheduledDelivery

HOST = "moved.example"


class Interrupted(Exception):
    """Simulates that the process is killed."""


@contextmanager
def interrupted(after: int, *, batch: int = 3) -> Iterator[None]:
    """Kill the import in a unit of work after `after` units, with small batches of rows."""
    advance, made = runs.advance, 0

    def advance_or_not(session: Session, run: Import, **more: int) -> None:
        nonlocal made
        advance(session, run, **more)
        made += 1
        if made > after:
            raise Interrupted

    with (
        patch.object(runs, "advance", advance_or_not),
        patch.object(imports, "BATCH_ROWS", batch),
        patch.object(imports, "FILES_AT_ONCE", 1),
    ):
        yield


@pytest.fixture
def clock() -> FrozenClock:
    """The clock starts after the users' actions, not at the first block of a chain."""
    return FrozenClock(NOW)


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


@pytest.fixture
def preparation(request: pytest.FixtureRequest) -> Preparation | None:
    return WITH_EVERYTHING if "everything" in request.fixturenames else None


@pytest.fixture
def everything(prepared: Everything) -> Everything:
    return prepared


@pytest.fixture
def archive(here: Installation, everything: Everything, cast: Cast) -> Path:
    return here.export(cast.realm_id)


def contents(installation: Installation) -> dict[str, int]:
    """Return the rows of each table, and the files."""
    with installation.database.reading() as reader:
        counts = {
            name: reader.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in ChatBase.metadata.tables.items()
        }
        search = "SELECT count(*) FROM message_search"
        counts["message_search"] = reader.exec_driver_sql(search).scalar_one()
    store = installation.files
    assert isinstance(store, DirectoryStore)
    counts["files"] = sum(1 for path in store._folder.rglob("*") if path.is_file())
    return counts


def test_references_in_texts_follow(
    archive: Path, here: Installation, everything: Everything, cast: Cast
) -> None:
    run = here.bring(archive, HOST).run

    def of(model: Any, column: Any, *conditions: Any) -> Any:
        query = select(column).where(model.realm_id == run.realm_id, *conditions)
        with here.database.reading() as reader:
            return reader.execute(query).scalar_one()

    hamlet = of(User, User.id, User.full_name == "Hamlet")
    othello = of(User, User.id, User.full_name == "Othello")
    channel = of(Channel, Channel.id, Channel.name == "Elsinore")
    group = of(UserGroup, UserGroup.id, UserGroup.name == "watch")
    first = of(Message, Message.id, Message.content == "Who is here?")
    direct = of(Message, Message.id, Message.content == "Between us")
    text = of(Message, Message.content, Message.content.contains("[said]"))
    html = of(Message, Message.rendered_content, Message.content.contains("[said]"))
    assert {hamlet, othello}.isdisjoint({cast.hamlet.id, cast.othello.id})
    assert first > everything.message_id
    _, _, realm, file = everything.file.split("/")
    assert int(realm) == cast.realm_id != run.realm_id
    assert text.startswith(
        f"@**Othello|{othello}** @*watch* #**Elsinore>ramparts@{first}** "
        f"[said](/#narrow/channel/{channel}-Elsinore/topic/ramparts/near/{first}) "
        f"https://{HOST}/#narrow/dm/{hamlet},{othello}-dm/near/{direct} "
        f"https://other.example/#narrow/channel/{everything.channel_id}-Elsinore "
        f"[f](/user_uploads/{run.realm_id}/"
    )
    assert file[:32] not in text + html
    for piece in (
        f'data-user-id="{othello}"',
        f'data-user-group-id="{group}"',
        f'data-stream-id="{channel}"',
        f'href="/#narrow/channel/{channel}-Elsinore/topic/ramparts/near/{first}"',
        f'href="#narrow/dm/{hamlet},{othello}-dm/near/{direct}"',
        f'href="https://other.example/#narrow/channel/{everything.channel_id}-Elsinore"',
        f'href="/user_uploads/{run.realm_id}/',
    ):
        assert piece in html
    shown = of(Message, Message.rendered_content, Message.content.contains("[p.png]"))
    assert f'src="/user_uploads/thumbnail/{run.realm_id}/' in shown
    assert f'src="/user_avatars/{run.realm_id}/emoji/images/' in shown
    assert everything.picture.split("/")[-1][:32] not in shown


def test_people_read_and_write_on(
    archive: Path, here: Installation, as_nobody: ChatClient, everything: Everything, cast: Cast
) -> None:
    run = here.bring(archive, HOST).run
    hamlet = as_nobody.acting_as(member_at(here.database, HOST, cast.hamlet))
    found = hamlet.get("/messages", anchor="newest", num_before=20, num_after=0)["messages"]
    (shown,) = [each["content"] for each in found if "thumbnail" in each["content"]]
    for address in re.findall('(?:href|src)="/(user_uploads/(?!thumbnail)[^"]*)"', shown):
        answer = hamlet.get(f"/{address}")
        assert answer["url"].startswith("/user_uploads/temporary/"), answer
        handle = names.handle_of(address.rpartition("/")[2])
        assert b"".join(here.files.read(names.key_of(run.realm_id, handle)))
    picture = re.findall("thumbnail/[0-9]+/([0-9a-f]{32})", shown)[0]
    key = names.key_of(run.realm_id, picture) + names.THUMBNAIL
    assert b"WEBP" in b"".join(here.files.read(key))
    said = hamlet.post("/messages", type="channel", to="Elsinore", topic="ghost", content="More")
    assert said["result"] == "success"
    assert said["id"] > max(each["id"] for each in found)
    voted = {"type": "vote", "key": "canned,0", "vote": 1}
    (poll,) = [each["id"] for each in found if each["submessages"]]
    assert hamlet.post("/submessage", message_id=poll, msg_type="widget", content=voted)[
        "result"
    ] == "success"  # fmt: skip
    (view,) = [
        each["fragment"]
        for each in hamlet.get("/navigation_views")["navigation_views"]
        if each["name"]
    ]
    othello = member_at(here.database, HOST, cast.othello)
    assert view == f"narrow/dm/{othello.id}-Othello"
    (draft,) = hamlet.get("/drafts")["drafts"]
    assert draft["to"] == [othello.id]


def test_pictures_of_people_follow(
    archive: Path, here: Installation, as_nobody: ChatClient, cast: Cast, tmp_path: Path
) -> None:
    """Images are created again, so that the store contains only images of ours.

    A missing image is skipped.
    """
    before = as_nobody.acting_as(cast.hamlet).get("/users/me")["avatar_url"]
    forged = [
        forge_file(archive, tmp_path / f"{number}.zip", "avatars", content)
        for number, content in enumerate((picture("JPEG", 30, 40), None))
    ]
    for source in (archive, *forged):
        host = f"{source.stem}.example"
        run = here.bring(source, host).run
        hamlet = as_nobody.acting_as(member_at(here.database, host, cast.hamlet))
        own = hamlet.get("/users/me")
        assert own["avatar_version"] == 2
        if source == forged[1]:
            assert own["avatar_url"].startswith("https://")
            continue
        place, _, version = own["avatar_url"].partition(".png?version=")
        handle = place.removeprefix(f"/user_avatars/{run.realm_id}/")
        assert (len(handle), version) == (32, "2")
        assert handle not in before
        for key, side in zip(keys_of(run.realm_id, handle), (100, 500), strict=True):
            with Image.open(io.BytesIO(b"".join(here.files.read(key)))) as made:
                assert (made.format, made.size, made.info) == ("PNG", (side, side), {})


def test_nobody_reaches_an_unfinished_one(
    archive: Path, here: Installation, as_nobody: ChatClient, cast: Cast
) -> None:
    for after in (0, 5, 20):
        with interrupted(after), pytest.raises(Interrupted):
            here.bring(archive, HOST)
        nobody = ChatClient(as_nobody._app, HOST)
        for path in ("/server_settings", "/users/me"):
            here_or_not = nobody.request("GET", path, host=HOST)
            hidden = nobody.request("GET", path, host=hidden_host(HOST))
            nowhere = nobody.request("GET", path, host="nowhere.example")
            assert nowhere.status_code >= 400
            for answer in (here_or_not, hidden):
                assert answer.status_code == nowhere.status_code
                assert answer.json()["msg"] == nowhere.json()["msg"]
        with here.database.reading() as reader:
            hosts = set(reader.execute(select(Realm.host)).scalars())
        assert hosts == {"acme.example", "globex.example", hidden_host(HOST)}
    here.bring(archive, HOST)
    assert as_nobody.request("GET", "/server_settings", host=HOST).status_code == 200


def test_an_interrupted_one_goes_on(archive: Path, here: Installation) -> None:
    interruptions = 0
    while True:
        try:
            with interrupted(2):
                run = here.bring(archive, HOST).run
            break
        except Interrupted:
            interruptions += 1
    assert interruptions > 30
    found = Comparison(archive, here.export(run.realm_id), hosts=("acme.example", HOST))
    assert found.differences == []


@pytest.mark.parametrize("after", [0, 1, 10, 40, 70])
def test_discard_leaves_nothing(archive: Path, here: Installation, after: int) -> None:
    before = contents(here)
    with interrupted(after), pytest.raises(Interrupted):
        here.bring(archive, HOST)
    assert contents(here) != before
    here.imports.discard(HOST)
    assert contents(here) == before
    with pytest.raises(NoSuchImport):
        here.imports.discard(HOST)


def test_a_discard_goes_on_and_nothing_else(archive: Path, here: Installation) -> None:
    before = contents(here)
    with interrupted(60), pytest.raises(Interrupted):
        here.bring(archive, HOST)
    with patch.object(runs, "end_removal", side_effect=Interrupted), pytest.raises(Interrupted):
        here.imports.discard(HOST)
    with pytest.raises(UnfinishedImport):
        here.bring(archive, HOST)
    here.imports.discard(HOST)
    assert contents(here) == before


def test_a_host_has_one_organization(
    archive: Path, here: Installation, cast: Cast, clock: FrozenClock
) -> None:
    with pytest.raises(HostInUse):
        here.bring(archive, "acme.example")
    first = here.bring(archive, HOST)
    assert here.bring(archive, HOST).run.id == first.run.id
    here.bring(archive, "again.example")
    clock.advance(seconds=1)
    other = here.export(cast.realm_id)
    with pytest.raises(HostInUse):
        here.bring(other, HOST)
    with interrupted(3), pytest.raises(Interrupted):
        here.bring(archive, "third.example")
    with pytest.raises(UnfinishedImport):
        here.bring(other, "third.example")


def test_the_host_of_an_unfinished_one_is_taken(
    archive: Path, here: Installation, now: datetime
) -> None:
    def create(session: Session) -> None:
        create_realm(
            session, KEYS, name="Early", host=HOST, owner_email="ada@early.example",
            owner_name="Ada", now=now,
        )  # fmt: skip

    with interrupted(3), pytest.raises(Interrupted):
        here.bring(archive, HOST)
    with pytest.raises(HostInUse):
        here.database.run(create)
    here.imports.discard(HOST)
    here.database.run(create)


def test_two_processes_do_not_write_twice(archive: Path, here: Installation) -> None:
    with interrupted(3), pytest.raises(Interrupted):
        here.bring(archive, HOST)
    with here.database.reading() as reader:
        run = runs.access_unfinished(reader, HOST)
    finished = here.bring(archive, HOST).run
    before = contents(here)
    with patch.object(runs, "access_import", return_value=run), pytest.raises(ImportTaken):
        here.bring(archive, HOST)  # like a process with outdated progress
    assert contents(here) == before
    found = Comparison(archive, here.export(finished.realm_id), hosts=("acme.example", HOST))
    assert found.differences == []


def test_overdue_messages_wait_for_a_word(
    archive: Path, here: Installation, clock: FrozenClock
) -> None:
    clock.advance(seconds=5 * HOUR)
    delivery = ScheduledDelivery(here.database, clock, late_window=timedelta(seconds=60))
    while delivery.try_deliver_one():
        pass  # the original organization's files
    assert here.bring(archive, HOST).waiting == 1
    assert not delivery.try_deliver_one()
    assert here.bring(archive, HOST, sends_overdue=True).waiting == 0
    assert delivery.try_deliver_one()
    assert not delivery.try_deliver_one()
    with here.database.reading() as reader:
        sent = select(func.count()).where(Message.content == "Later")
        assert reader.execute(sent).scalar_one() == 1
    clock.advance(seconds=5 * HOUR)
    assert delivery.try_deliver_one()  # the reminder, on time


def test_another_name(archive: Path, here: Installation) -> None:
    for wrong in ("", "x" * 41, "a\nb"):
        with pytest.raises(InvalidRealmName):
            here.imports.run(archive, host=HOST, name=wrong)
    here.imports.run(archive, host=HOST, name="Moved")
    with here.database.reading() as reader:
        name = select(Realm.name).where(Realm.host == HOST)
        assert reader.execute(name).scalar_one() == "Moved"


@pytest.mark.both_databases
def test_others_write_meanwhile(
    archive: Path, here: Installation, cast: Cast, clock: FrozenClock
) -> None:
    """Their rows and those of the import have different ids."""
    ended, written = threading.Event(), 0
    realm, now = cast.globex_id, clock.now()

    def write() -> None:
        nonlocal written
        while not ended.wait(0.002):
            here.database.run(
                lambda session: audit.record(session, realm, "realm_setting_changed", now=now)
            )
            written += 1

    others = [threading.Thread(target=write) for _ in range(2)]
    for other in others:
        other.start()
    try:
        with patch.object(imports, "BATCH_ROWS", 5):
            run = here.bring(archive, HOST).run
    finally:
        ended.set()
        for other in others:
            other.join()
    assert written > 0
    found = Comparison(archive, here.export(run.realm_id), hosts=("acme.example", HOST))
    assert found.differences == []


def test_only_whole_archives_are_imported(here: Installation, cast: Cast) -> None:
    for export_type in ("public", "full_with_consent"):
        with pytest.raises(ArchiveRefused, match="full_without_consent"):
            here.bring(here.export(cast.realm_id, export_type), HOST)
