"""Operations of the tag exports, and the worker that creates the archives."""

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select, update
from structlog.testing import capture_logs

from adapters.file_store.directory import DirectoryStore
from models.chat.exports.requests import Archive, access_archive
from models.chat.identity.links import LIFETIME, Link, try_spend
from models.chat.tables import AuditLog, DataExport, Event, Message, Realm, SpentLink, User
from specd.db import Database
from tests.support.archives import verify_archive
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.messages import set_realm
from tests.support.chat.people import VAULT, Cast
from tests.support.frozen_clock import FrozenClock
from workers.exports import Exports

TYPES = ("public", "full_with_consent", "full_without_consent")


NOT_AN_ADMINISTRATOR = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
NOT_LOGGED_IN = bad("Not logged in: API authentication or user session required", "UNAUTHORIZED")

MONTH = timedelta(days=30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "exports"


@pytest.fixture
def worker(chat_database: Database, clock: FrozenClock, folder: Path) -> Exports:
    return Exports(
        chat_database,
        clock,
        folder,
        DirectoryStore(folder / "files"),
        public_url="http://127.0.0.1:8080",
        retention=MONTH,
        stopping=threading.Event(),
    )


def export_events(database: Database, type_: str = "realm_export") -> list[dict[str, Any]]:
    with database.reading() as reader:
        asked = select(Event.payload, Event.audience).where(Event.type == type_).order_by(Event.id)
        return [orjson.loads(text) | {"_to": to} for text, to in reader.execute(asked)]


def age(database: Database, **values: Any) -> None:
    database.run(lambda session: session.execute(update(DataExport).values(**values)))


class TestCreateExport:
    def test_export_is_created_by_the_worker(
        self, as_iago: ChatClient, chat_database: Database, cast: Cast, clock: FrozenClock
    ) -> None:
        assert as_iago.post("/export/realm") == {**DONE, "id": 1}
        record = {
            "id": 1,
            "acting_user_id": cast.iago.id,
            "export_time": clock.now().timestamp(),
            "deleted_timestamp": None,
            "failed_timestamp": None,
            "export_url": None,
            "pending": True,
            "export_type": "public",
        }
        assert export_events(chat_database) == [{"exports": [record], "_to": "administrators"}]
        with chat_database.reading() as reader:
            kinds = reader.execute(select(AuditLog.kind).order_by(AuditLog.id.desc())).scalars()
            assert kinds.first() == "export_requested"

    def test_accepts_every_type(
        self, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        refused = as_cordelia.post("/export/realm", export_type="full_without_consent")
        assert refused == bad(
            "Full exports without consent are not available in this organization."
        )
        set_realm(chat_database, cast, owner_full_content_access=True)
        for number, export_type in enumerate(TYPES, 1):
            answer = as_cordelia.post("/export/realm", export_type=export_type)
            assert answer == {**DONE, "id": number}
        found = as_cordelia.get("/export/realm")["exports"]
        assert [each["export_type"] for each in found] == list(TYPES)
        assert as_cordelia.post("/export/realm", export_type="all") == bad("Invalid export_type")

    def test_full_access_requires_permission_by_the_operator(
        self, as_cordelia: ChatClient, chat_database: Database
    ) -> None:
        answer = as_cordelia.patch("/realm", owner_full_content_access=True)
        assert answer["ignored_parameters_unsupported"] == ["owner_full_content_access"]
        with chat_database.reading() as reader:
            granted = select(func.count()).where(Realm.owner_full_content_access)
            assert reader.execute(granted).scalar_one() == 0

    def test_limits_exports_in_seven_days_including_failed_and_deleted_ones(
        self, as_iago: ChatClient, as_hank: ChatClient, chat_database: Database, clock: FrozenClock
    ) -> None:
        for _ in range(5):
            assert as_iago.post("/export/realm")["result"] == "success"
        age(chat_database, state="failed", ended_at=clock.now())
        assert as_iago.post("/export/realm") == bad("Exceeded rate limit.")
        assert as_hank.post("/export/realm")["result"] == "success"
        clock.advance(seconds=7 * 86_400 - 1)
        assert as_iago.post("/export/realm") == bad("Exceeded rate limit.")
        clock.advance(seconds=1)
        assert as_iago.post("/export/realm")["result"] == "success"

    def test_rejects_too_large_organizations(
        self, as_iago: ChatClient, chat: ChatClient, chat_app: ChatApp, cast: Cast
    ) -> None:
        for text in ("one", "two"):
            chat.post("/messages", type="direct", to=[cast.othello.id], content=text)
        # The settings are frozen, and all tests share one application.
        object.__setattr__(chat_app.settings, "chat_export_messages_max", 1)
        try:
            refused = as_iago.post("/export/realm")
            object.__setattr__(chat_app.settings, "chat_export_messages_max", 2)
            assert as_iago.post("/export/realm")["result"] == "success"
        finally:
            object.__setattr__(chat_app.settings, "chat_export_messages_max", 250_000)
        assert refused == bad(
            "The export you requested is too large for automatic processing."
            " Please request a manual export by contacting administrator@localhost."
        )

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.post("/export/realm") == NOT_LOGGED_IN
        refused = as_prospero.post("/export/realm", export_type="all")
        assert refused == NOT_AN_ADMINISTRATOR


class TestListExports:
    def test_archive_links_are_valid_for_ten_minutes(
        self, as_iago: ChatClient, as_hank: ChatClient, worker: Exports, chat_database: Database,
        cast: Cast, clock: FrozenClock, folder: Path,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        assert worker.try_work_one()
        (record,) = as_iago.get("/export/realm")["exports"]
        assert (record["pending"], record["failed_timestamp"]) == (False, None)
        start, _, token = record["export_url"].rpartition("/")
        assert start == "http://acme.example/exports/1"
        assert as_hank.get("/export/realm")["exports"] == []

        def look_up(token: str | None, export_id: int = 1, host: str = "acme.example",
                    key: Any = None) -> Any:  # fmt: skip
            with chat_database.reading() as reader:
                return access_archive(
                    reader, VAULT, export_id, host=host, token=token, key=key, now=clock.now()
                )

        found = look_up(token)
        assert verify_archive(folder / found.name)["rows"] > 0
        assert look_up(token, host="globex.example") is None
        assert look_up(token, export_id=2) is None
        assert look_up(token[:-2]) is None
        assert look_up(None) is None
        by_key = replace(found, link=None)
        for member, expected in ((cast.iago, by_key), (cast.hamlet, None), (cast.hank, None)):
            assert look_up(None, key=(member.email, member.key)) == expected
        clock.advance(seconds=599)
        assert look_up(token).name == found.name
        clock.advance(seconds=1)
        assert look_up(token) is None

    @pytest.mark.parametrize("change", ["demoted", "deactivated", "elsewhere", "used"])
    def test_link_ends_with_its_export_or_administrator(
        self, change: str, as_iago: ChatClient, as_cordelia: ChatClient, worker: Exports,
        chat_database: Database, cast: Cast, clock: FrozenClock,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        assert worker.try_work_one()

        def link_of(client: ChatClient) -> str:
            (record,) = client.get("/export/realm")["exports"]
            return str(record["export_url"]).rpartition("/")[2]

        def look_up(token: str) -> Archive | None:
            with chat_database.reading() as reader:
                return access_archive(
                    reader, VAULT, 1, host="acme.example", token=token, key=None, now=clock.now()
                )

        def spend(archive: Archive) -> bool:
            link = archive.link
            assert link is not None
            return chat_database.run(lambda session: try_spend(session, link, now=clock.now()))

        iagos, cordelias = link_of(as_iago), link_of(as_cordelia)
        found = look_up(iagos)
        assert found is not None
        match change:
            case "demoted":
                assert as_cordelia.patch(f"/users/{cast.iago.id}", role=400)["result"] == "success"
            case "deactivated":
                assert as_cordelia.delete(f"/users/{cast.iago.id}")["result"] == "success"
            case "elsewhere":
                moved = update(User).where(User.id == cast.iago.id)
                hanks = select(User.realm_id).where(User.id == cast.hank.id).scalar_subquery()
                other = moved.values(realm_id=hanks)
                chat_database.run(lambda session: session.execute(other))
            case "used":
                assert [spend(found), spend(found)] == [True, False]
        assert look_up(iagos) is None
        assert look_up(cordelias) is not None, "a link is valid for one administrator"

    def test_used_links_are_deleted_after_their_expiry(
        self, chat_database: Database, clock: FrozenClock
    ) -> None:
        def spend(key: str) -> bool:
            link = Link(key, 1, clock.now() + LIFETIME)
            return chat_database.run(lambda session: try_spend(session, link, now=clock.now()))

        assert spend("a")
        for _ in range(4):
            clock.advance(seconds=600)
            assert spend(str(clock.now()))
        with chat_database.reading() as reader:
            assert len(reader.execute(select(SpentLink.key)).all()) <= 3

    def test_finished_export_is_announced_by_events_and_a_message(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, cast: Cast
    ) -> None:
        as_iago.post("/export/realm")
        worker.try_work_one()
        last = export_events(chat_database)[-1]
        assert last["_to"] == "administrators"
        # The URL in an event needs a key, because stored events contain no secret.
        assert last["exports"][0]["export_url"] == "http://acme.example:8080/exports/1"
        with chat_database.reading() as reader:
            notice = reader.execute(select(Message.sender_id, Message.content)).one()
        assert notice == (
            cast.notification_bot_id,
            "Your data export is complete."
            " [View and download exports](/docs/chat#/exports/list_exports).",
        )

    def test_former_administrator_is_not_notified(
        self, as_iago: ChatClient, as_cordelia: ChatClient, worker: Exports, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        assert as_cordelia.delete(f"/users/{cast.iago.id}")["result"] == "success"
        with capture_logs() as logs:
            assert worker.try_work_one()
        assert [line for line in logs if line["event"].startswith("notice")] == [
            {
                "event": "notice_not_taken",
                "log_level": "info",
                "reason": "RecipientDeactivated",
                "export_id": 1,
            }
        ]
        (record,) = as_cordelia.get("/export/realm")["exports"]
        assert (record["pending"], record["failed_timestamp"]) == (False, None)
        with chat_database.reading() as reader:
            assert reader.execute(select(Message.id)).all() == []

    def test_failure_is_reported(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, clock: FrozenClock,
        folder: Path,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        folder.write_text("not a folder")
        for attempt in range(1, 6):
            assert worker.try_export_one()
            assert not worker.try_export_one(), "retries are delayed"
            assert as_iago.get("/export/realm")["exports"][0]["pending"] == (attempt < 5)
            clock.advance(seconds=31)
        assert not worker.try_export_one()
        (record,) = as_iago.get("/export/realm")["exports"]
        assert (record["pending"], record["export_url"]) == (False, None)
        with chat_database.reading() as reader:
            (content,) = reader.execute(select(Message.content)).scalars()
        assert content.startswith("Your data export has failed.")
        assert as_iago.delete("/export/realm/1") == bad("Export failed, nothing to delete")

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.get("/export/realm") == NOT_LOGGED_IN
        assert as_prospero.get("/export/realm") == NOT_AN_ADMINISTRATOR


class TestListExportConsents:
    def test_lists_consenting_users(
        self, as_iago: ChatClient, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        chat.patch("/settings", allow_private_data_export=True)
        answer = as_iago.get("/export/realm/consents")
        people = [
            {"user_id": member.id, "consented": member == cast.hamlet,
             "email_address_visibility": 1}
            for member in cast.acme
            if member not in (cast.reminder, cast.ophelia)
        ]  # fmt: skip
        assert answer == {**DONE, "export_consents": people}
        consent = {"user_id": cast.hamlet.id, "consented": True, "_to": "administrators"}
        assert export_events(chat_database, "realm_export_consent") == [consent]

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.get("/export/realm/consents") == NOT_LOGGED_IN
        assert as_prospero.get("/export/realm/consents") == NOT_AN_ADMINISTRATOR


class TestDeleteExport:
    def test_deletes_the_archive(
        self, as_iago: ChatClient, as_hank: ChatClient, worker: Exports, chat_database: Database,
        clock: FrozenClock, folder: Path,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        assert as_iago.delete("/export/realm/1") == bad("Export still in progress")
        worker.try_work_one()
        assert as_hank.delete("/export/realm/1") == bad("Invalid data export ID")
        assert as_iago.delete("/export/realm/2") == bad("Invalid data export ID")
        assert as_iago.delete("/export/realm/1") == DONE
        (record,) = as_iago.get("/export/realm")["exports"]
        assert record["export_url"] is None
        assert record["deleted_timestamp"] == clock.now().timestamp()
        assert export_events(chat_database)[-1]["exports"] == [record]
        assert as_iago.delete("/export/realm/1") == bad("Export already deleted")
        assert len(list(folder.iterdir())) == 1
        assert worker.sweep() == 1
        assert list(folder.iterdir()) == []

    def test_expired_archive_is_deleted(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, clock: FrozenClock,
        folder: Path, cast: Cast,
    ) -> None:  # fmt: skip
        worker.export_now(cast.realm_id, "public")
        as_iago.post("/export/realm")
        worker.try_work_one()
        clock.advance(seconds=MONTH.total_seconds())
        assert not worker.try_work_one()
        clock.advance(seconds=10)
        assert worker.try_work_one()
        assert worker.try_work_one(), "a separate step deletes the file"
        assert not worker.try_work_one()
        (record,) = as_iago.get("/export/realm")["exports"]
        assert (record["export_url"], record["id"]) == (None, 2)
        assert record["deleted_timestamp"] == clock.now().timestamp()
        assert export_events(chat_database)[-1]["exports"] == [record]
        assert as_iago.delete("/export/realm/2") == bad("Export already deleted")
        (left,) = folder.iterdir()
        assert left.name.startswith("1-"), "only the operator deletes the operator's exports"

    def test_requires_administrator(self, as_nobody: ChatClient, as_prospero: ChatClient) -> None:
        assert as_nobody.delete("/export/realm/1") == NOT_LOGGED_IN
        assert as_prospero.delete("/export/realm/1") == NOT_AN_ADMINISTRATOR


class TestWorker:
    def test_abandoned_export_is_resumed_and_cleaned_up(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, clock: FrozenClock,
        folder: Path,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        folder.mkdir()
        (folder / "1-dead.zip.part").write_bytes(b"half")
        (folder / "1-dead.zip").write_bytes(b"whole, but not said to be")
        age(
            chat_database, state="started", holder="dead", attempts=1,
            next_try_at=clock.now() + timedelta(seconds=60),
        )  # fmt: skip
        assert not worker.try_export_one()
        assert worker.sweep() == 0, "the other worker may still run"
        clock.advance(seconds=60)
        assert worker.try_export_one()
        assert worker.sweep() == 2
        (archive,) = folder.iterdir()
        verify_archive(archive)

    def test_worker_without_lease_discards_its_archive(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, folder: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        as_iago.post("/export/realm")
        end = worker._end
        monkeypatch.setattr(
            worker, "_end", lambda *of: (age(chat_database, holder="another"), end(*of))
        )
        assert worker.try_export_one()
        assert list(folder.iterdir()) == []
        assert as_iago.get("/export/realm")["exports"][0]["pending"]

    def test_stopped_worker_releases_its_export(
        self, as_iago: ChatClient, worker: Exports, chat_database: Database, folder: Path
    ) -> None:
        as_iago.post("/export/realm")
        worker._stopping.set()
        worker.try_export_one()
        assert list(folder.iterdir()) == []
        worker._stopping.clear()
        assert worker.try_export_one()
        assert not as_iago.get("/export/realm")["exports"][0]["pending"]
