"""Contents of each type of export, and columns that are never exported."""

import threading
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import update

from adapters.file_store.directory import DirectoryStore
from models.chat.base import ChatBase
from models.chat.exports.tables import PARTS
from models.chat.tables import Subscription, User
from specd.db import Database
from tests.support.archives import DamagedArchive, reading_archive, verify_archive
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe, unsubscribe
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from workers.exports import Exports

Archive = dict[str, list[dict[str, Any]]]
KEPT = ("alert_word", "bot_storage", "draft", "muted_user", "navigation_view", "saved_snippet")
"""Personal settings and notes."""
WITHHELD: Mapping[str, frozenset[str]] = {
    # Secrets, and values derived from them.
    "user": frozenset(("email_key", "password_hash", "api_key_nonce", "api_key_sha256")),
    # Addresses of callers, for the operator only.
    "audit_log": frozenset(("key_id", "address", "request_id")),
    # Values derived from other columns, and columns that only our workers read.
    "alert_word": frozenset(("word_key", "first_part")),
    "attachment": frozenset(("deleted_at",)),
    "bot_storage": frozenset(("size",)),
    "channel": frozenset(("name_key",)),
    "channel_folder": frozenset(("name_key",)),
    "conversation": frozenset(("key",)),
    "invitation": frozenset(("email_key", "token_sha256", "sealed_token")),
    "message": frozenset(("topic_key",)),
    # Signs requests.
    "outgoing_webhook": frozenset(("sealed_secret",)),
    # Whether the organization has moved away from this installation.
    "realm": frozenset(("stopped_at",)),
    "scheduled_message": frozenset(("next_try_at", "attempts")),
    "user_group": frozenset(("name_key",)),
    "user_topic": frozenset(("topic_key",)),
}
"""Columns that are never exported, by table."""

LEFT_OUT: Mapping[str, str] = {
    "attempt_count": "digests of limited actions",
    "browser_session": "which browsers stay signed in here",
    "chat_import": "how far the import of an archive is",
    "client_device": "keys of users' devices",
    "data_export": "records of exports",
    "email_change": "tokens of unconfirmed addresses",
    "event_queue": "positions of clients in the event log",
    "event": "changes of rows in the other files",
    "idempotency_key": "responses kept for retries",
    "jwt_configuration": "the key that signs people in",
    "known_place": "digests of where people signed in",
    "message_archive": "messages that were deleted",
    "message_removal": "messages that are still to be deleted",
    "moved_row": "new ids of rows while an organization moves here",
    "outbox": "mail on its way",
    "outgoing_delivery": "messages on their way to bots",
    "reaction_archive": "reactions to messages that were deleted",
    "row_change": "changes during a move to another server",
    "secret_check": "a text sealed with the secret of the server",
    "worker_heartbeat": "which workers of the server run",
    "stale_search": "messages that are not indexed yet",
    "presence": "when users were last active",
    "spent_link": "links that were used",
    "starred_message": "a flag of message copies, which are exported",
    "topic": "a summary of the messages",
    "vendor_token": "access to users' accounts with video services",
}
"""Tables that are never exported, with their contents."""
SECRETS = ("password", "api_key", "nonce", "sha256", "token", "secret", "email_key", "sealed")


@pytest.fixture
def maker(chat_database: Database, clock: FrozenClock, tmp_path: Path) -> Exports:
    return Exports(
        chat_database, clock, tmp_path / "exports", DirectoryStore(tmp_path), public_url="http://127.0.0.1",
        retention=timedelta(days=30), stopping=threading.Event(),
    )  # fmt: skip


def export(maker: Exports, realm_id: int, export_type: str) -> tuple[Path, Archive]:
    run, written = maker.export_now(realm_id, export_type)
    assert written is not None
    path = maker._folder / run.archive
    manifest = verify_archive(path)
    assert manifest["rows"] == written.rows == sum(file["rows"] for file in manifest["files"])
    with reading_archive(path) as (archive, _):
        return path, {
            file["name"].removesuffix(".jsonl"): [
                orjson.loads(line) for line in archive.read(file["name"]).splitlines()
            ]
            for file in manifest["files"]
        }


def contents(archive: Archive) -> set[str]:
    return {message["content"] for message in archive["message"]}


def ids(archive: Archive, name: str, column: str = "id") -> set[int]:
    return {row[column] for row in archive[name]}


class TestEveryColumn:
    def test_is_exported_or_withheld_by_name(self) -> None:
        listed: dict[str, set[str]] = {name: set(columns) for name, columns in WITHHELD.items()}
        for part in PARTS:
            columns = listed.setdefault(part.table.__tablename__, set())
            assert not WITHHELD.get(part.table.__tablename__, set()) & set(part.columns)
            columns |= set(part.columns)
        tables = ChatBase.metadata.tables
        assert not listed.keys() & LEFT_OUT.keys()
        assert listed.keys() | LEFT_OUT.keys() == tables.keys()
        for name, columns in listed.items():
            assert columns == set(tables[name].columns.keys()), name

    def test_exported_name_does_not_suggest_a_secret(self) -> None:
        for part in PARTS:
            for column in part.columns:
                assert not any(word in column for word in SECRETS), column


class TestTypes:
    """Exports for Hamlet, who consents.

    The channels: `open` is public; Hamlet and Othello subscribe to `shared` and `guarded`, only
    Othello subscribes to `foreign`, and Hamlet has left `left`.
    """

    @pytest.fixture
    def channels(self, chat_database: Database, cast: Cast) -> dict[str, int]:
        def work(session: Any) -> dict[str, int]:
            both = (cast.hamlet, cast.othello)
            private = {"invite_only": True}
            made = {
                "open": make_channel(session, cast, "open", subscribers=both),
                "shared": make_channel(session, cast, "shared", subscribers=both, **private),
                "guarded": make_channel(
                    session, cast, "guarded", subscribers=(cast.othello,),
                    history_public_to_subscribers=False, **private,
                ),
                "foreign": make_channel(
                    session, cast, "foreign", subscribers=(cast.othello,), **private
                ),
                "left": make_channel(session, cast, "left", subscribers=both, **private),
            }  # fmt: skip
            unsubscribe(session, made["left"], cast.hamlet)
            consent = update(User).where(User.id == cast.hamlet.id)
            session.execute(consent.values(allow_private_data_export=True, color_scheme=3))
            hidden = update(User).where(User.id.in_((cast.hamlet.id, cast.othello.id)))
            session.execute(hidden.values(email_address_visibility=4))
            session.execute(update(Subscription).values(color="#123456"))
            return made

        return chat_database.run(work)

    @pytest.fixture
    def said(
        self, channels: dict[str, int], chat: ChatClient, as_othello: ChatClient,
        as_prospero: ChatClient, as_hank: ChatClient, cast: Cast, chat_database: Database,
    ) -> dict[str, int]:  # fmt: skip
        def say(client: ChatClient, text: str, to: Any) -> None:
            kind = "direct" if isinstance(to, list) else "channel"
            topic = None if kind == "direct" else "news"
            answer = client.post("/messages", type=kind, to=to, topic=topic, content=text)
            assert answer["result"] == "success", answer

        for name, channel_id in channels.items():
            say(as_othello, f"in {name}", channel_id)
        chat_database.run(lambda session: subscribe(session, channels["guarded"], cast.hamlet))
        say(as_othello, "in guarded, later", channels["guarded"])
        say(chat, "direct of Hamlet", [cast.othello.id])
        say(as_othello, "direct of others", [cast.prospero.id])
        say(as_hank, "direct elsewhere", [cast.hank.id])
        draft = {"type": "", "to": [], "topic": "", "content": "To whom"}
        for client in (chat, as_othello):
            client.post("/drafts", drafts=[draft])
            client.post("/saved_snippets", title="Greeting", content="Words")
            client.put("/bot_storage", storage={"visits": "1"})
            client.post("/users/me/alert_words", alert_words=["castle"])
            client.post("/navigation_views", fragment="inbox", is_pinned=False)
            client.post(f"/users/me/muted_users/{cast.iago.id}")
        return channels

    def test_public(self, said: dict[str, int], maker: Exports, cast: Cast) -> None:
        _, archive = export(maker, cast.realm_id, "public")
        assert contents(archive) == {"in open"}
        assert ids(archive, "channel") == {said["open"]}
        assert ids(archive, "subscription", "channel_id") == {said["open"]}
        for private in (
            "user_message", "user_settings", "subscription_settings", "conversation",
            "conversation_member", "scheduled_message", "user_topic", "audit_log", *KEPT,
        ):  # fmt: skip
            assert archive[private] == []
        emails = {row["id"]: row["delivery_email"] for row in archive["user"]}
        assert emails[cast.hamlet.id] is None
        assert emails[cast.prospero.id] == cast.prospero.email
        held = {row["id"] for row in archive["user_group"] if row["kind"] == "anonymous"}
        used = {row["can_administer_channel_group"] for row in archive["channel"]}
        assert used <= held
        _, everything = export(maker, cast.realm_id, "full_without_consent")
        for row in everything["channel"]:
            if row["id"] != said["open"]:
                assert row["can_administer_channel_group"] not in held

    def test_full_with_consent(self, said: dict[str, int], maker: Exports, cast: Cast) -> None:
        path, archive = export(maker, cast.realm_id, "full_with_consent")
        assert contents(archive) == {
            "in open", "in shared", "in guarded, later", "direct of Hamlet",
        }  # fmt: skip
        assert ids(archive, "channel") == {said[name] for name in ("open", "shared", "guarded")}
        with reading_archive(path) as (_, manifest):
            consenting = {cast.hamlet.id, cast.reminder.id}  # and their bot
            assert set(manifest["consenting_user_ids"]) == consenting
        for name in ("user_message", "subscription_settings", *KEPT):
            assert ids(archive, name, "user_id") == {cast.hamlet.id}
        assert ids(archive, "user_settings") == consenting
        assert ids(archive, "user_message", "message_id") <= ids(archive, "message")
        assert ids(archive, "conversation_member", "user_id") == {cast.hamlet.id, cast.othello.id}
        assert archive["audit_log"] == []
        emails = {row["id"]: row["delivery_email"] for row in archive["user"]}
        assert emails[cast.hamlet.id] == cast.hamlet.email
        assert emails[cast.othello.id] is None

    def test_full_without_consent(self, said: dict[str, int], maker: Exports, cast: Cast) -> None:
        path, archive = export(maker, cast.realm_id, "full_without_consent")
        assert contents(archive) == {
            "in open", "in shared", "in guarded", "in guarded, later", "in foreign", "in left",
            "direct of Hamlet", "direct of others",
        }  # fmt: skip
        assert ids(archive, "channel") == set(said.values())
        assert ids(archive, "user") == ids(archive, "user_settings")
        assert ids(archive, "realm") == {cast.realm_id}
        assert {row["delivery_email"] for row in archive["user"]} >= {
            member.email for member in cast.acme
        }
        text = b"".join(self._files(path))
        for member in (*cast.acme, cast.hank):
            assert member.key.encode() not in text
        assert b"argon2" not in text
        assert b"globex" not in text.lower()

    def _files(self, path: Path) -> list[bytes]:
        with zipfile.ZipFile(path) as archive:
            return [archive.read(name) for name in archive.namelist()]


class TestVerifyArchive:
    def test_finds_damage(self, maker: Exports, cast: Cast) -> None:
        path, _ = export(maker, cast.realm_id, "public")
        whole = path.read_bytes()
        path.write_bytes(whole[:-100])
        with pytest.raises(DamagedArchive):
            verify_archive(path)
        copy = path.with_suffix(".copy")
        copy.write_bytes(whole)
        with zipfile.ZipFile(copy) as original, zipfile.ZipFile(path, "w") as forged:
            for name in original.namelist():
                text = original.read(name)
                forged.writestr(
                    name, text.replace(b"Acme", b"Acne") if name == "realm.jsonl" else text
                )
        with pytest.raises(DamagedArchive, match=r"realm\.jsonl"):
            verify_archive(path)
