"""Forged archives are rejected with file and line, and leave no data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from adapters.archive_reader import ArchiveRefused
from models.chat.base import ChatBase
from models.chat.exports.tables import PARTS
from models.chat.imports.errors import NoSuchImport
from models.chat.imports.values import TO_COME, converter
from specd.db import Database, UtcMs, table_of
from tests.conftest import NOW
from tests.support.chat.app import ChatApp
from tests.support.chat.forging import Rows, forge, forge_file, forge_manifest
from tests.support.chat.importing import Installation, store_of
from tests.support.chat.moved import WITH_EVERYTHING
from tests.support.chat.people import Cast
from tests.support.chat.prepared import Preparation
from tests.support.databases import count_rows
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import PIXEL, SCRIPT, black_png

HOST = "moved.example"
LONG = "x" * 100_000
BY_THE_DATABASE = "the row breaks a rule"
FOREIGN = 2
"""The id of the other organization, whose rows have the same ids."""

# File, column, value, and the error. The first row of the file gets the value.
VALUES: tuple[tuple[str, str, object, str], ...] = (
    # Another organization's rows
    ("realm_domain", "realm_id", FOREIGN, "refers to realm 2"),
    ("user", "realm_id", FOREIGN, "refers to realm 2"),
    ("channel", "realm_id", FOREIGN, "refers to realm 2"),
    ("message", "realm_id", FOREIGN, "refers to realm 2"),
    ("attachment", "realm_id", FOREIGN, "refers to realm 2"),
    ("audit_log", "realm_id", FOREIGN, "refers to realm 2"),
    # Broken references
    ("message", "sender_id", 999_999, "sender_id refers to user 999999"),
    ("message", "channel_id", 999_999, "channel_id refers to channel 999999"),
    ("user_message", "message_id", 999_999, "message_id refers to message 999999"),
    ("user_message", "user_id", -1, "user_id refers to user -1"),
    ("reaction", "message_id", 0, "message_id refers to message 0"),
    ("user_topic", "channel_id", 999_999, "refers to channel"),
    ("user_group_member", "group_id", 999_999, "refers to user_group"),
    ("attachment_message", "attachment_id", 999_999, "refers to attachment"),
    ("realm", "owners_group_id", 999_999, "owners_group_id refers to user_group 999999"),
    ("channel", "can_send_message_group", 999_999, "refers to user_group 999999"),
    ("user_group", "can_manage_group", -7, "refers to user_group -7"),
    ("draft", "recipient_ids", "[999999]", "the user 999999 is not in the archive"),
    ("invitation", "channel_ids", "[999999]", "the channel 999999 is not in the archive"),
    # Wrong types
    ("message", "id", "1", "id is no integer"),
    ("message", "id", True, "id is no integer"),
    ("message", "id", -5, "id is no id"),
    ("message", "id", 1 << 63, "id is no id"),
    ("message", "content", None, "content is no text"),
    ("message", "content", ["a"], "content is no text"),
    ("message", "content", "a\0b", "content has a character"),
    ("message", "has_link", 1, "has_link is neither true nor false"),
    ("message", "sent_at", "yesterday", "sent_at is no time in UTC"),
    ("message", "sent_at", "2026-11-26T10:00:00+02:00", "sent_at is no time in UTC"),
    ("message", "sent_at", 0, "sent_at is no time in UTC"),
    ("user", "role", "100", "role is no integer"),
    ("user", "role", 1 << 40, "role is no integer of 32 bits"),
    ("user_message", "flags", 1 << 63, "flags is no integer of 64 bits"),
    ("user_message", "flags", 1.5, "flags is no integer"),
    ("draft", "recipient_ids", "{}", "is no list of ids"),
    ("draft", "recipient_ids", "[", "recipient_ids "),
    ("draft", "recipient_ids", '["1"]', "is no list of ids"),
    ("audit_log", "facts", "[]", "is no JSON object"),
    ("submessage", "content", "nothing", "content "),
    # Values that operations of the API reject
    ("message", "content", lambda: "x" * 15_000_000, "content is longer than 10000 characters"),
    ("message", "content", "x" * 10_001, "content is longer than 10000 characters"),
    ("message_edit", "prev_content", "x" * 10_001, "prev_content is longer than"),
    ("draft", "content", "x" * 10_001, "content is longer than 10000 characters"),
    ("scheduled_message", "content", "x" * 10_001, "content is longer than"),
    ("saved_snippet", "content", "x" * 10_001, "content is longer than 10000 characters"),
    ("saved_snippet", "title", " ", "title is empty"),
    ("channel", "name", "", "name "),
    ("channel", "name", " a", "name is not as the service stores it"),
    ("channel", "message_retention_days", -7, "message_retention_days is not from -1"),
    ("channel_folder", "name", "", "name "),
    ("user_group", "name", "", "name is empty"),
    ("realm", "message_retention_days", -7, "message_retention_days is not from -1"),
    ("realm", "welcome_message_custom_text", "x" * 8_001, "longer than 8000 characters"),
    ("realm", "default_language", "xx", "default_language is none of the values"),
    ("realm_emoji", "name", "A B!", "Emoji names must contain only"),
    ("realm_emoji", "name", "a-", "Emoji names must end with"),
    ("reaction", "reaction_type", "zzz", "reaction_type is no kind of reaction"),
    ("user_status", "reaction_type", "zzz", "reaction_type is no kind of reaction"),
    ("user_message", "flags", -1, "flags is not from 0 to 4095"),
    ("user_message", "flags", 4096, "flags is not from 0 to 4095"),
    ("invitation", "role", 150, "role is no role"),
    ("invitation", "email", "a,b", "email "),
    ("user", "delivery_email", "a,b@acme.example", "mail"),
    ("user", "full_name", "a*b", "Invalid characters in name"),
    ("user", "full_name", "see www.a.example", "nvalid format"),
    ("user", "full_name", " Hamlet", "full_name is not as the service stores it"),
    ("audit_log", "kind", "No kind", "kind is no kind of change"),
    ("navigation_view", "fragment", " ", "fragment is empty"),
    ("navigation_view", "name", " ", "ustom views must have a valid name"),
    ("user", "date_joined", "9998-01-01T00:00:00.000Z", "date_joined is in the future"),
    ("message", "sent_at", "9998-01-01T00:00:00.000Z", "sent_at is in the future"),
    # Too long, or with several lines
    ("message", "topic", LONG, "topic is longer than 60 characters"),
    ("message", "topic", "a\nb", "topic has a character"),
    ("user", "full_name", LONG, "full_name is longer than 100 characters"),
    ("user", "full_name", "a\u2028b", "full_name has a character"),
    ("user", "delivery_email", "a@b\r\nBcc: c", "delivery_email has a character"),
    ("channel", "description", LONG, "description is longer than"),
    ("realm", "name", LONG, "name is longer than 40 characters"),
    # Values that the service never stores
    ("user", "delivery_email", None, "delivery_email is no text"),
    ("user", "role", 101, BY_THE_DATABASE),
    ("user_group", "kind", "secret", BY_THE_DATABASE),
    ("scheduled_message", "state", "sending", BY_THE_DATABASE),
    ("message", "channel_id", None, BY_THE_DATABASE),
    ("user_settings", "color_scheme", 17, "color_scheme is none of the values"),
    ("user_settings", "timezone", "Europe/Elsinore", "timezone is none of the values"),
    ("user_settings", "default_language", "xx", "default_language is none of the values"),
    ("profile_field", "field_data", "[]", "field_data is no JSON object"),
    ("profile_field", "field_data", "{", "field_data "),
    ("subscription_settings", "color", "red;x", "color is no color"),
    ("attachment", "handle", "../../../../etc/passwd", "no row"),
    ("attachment", "path_name", "../up", "no row"),
    ("attachment", "media_type", "text/html\r\nX: y", "media_type "),
    ("attachment", "size", 1, "another size than its row"),
    ("attachment", "size", "1", "does not describe a file"),
    ("realm_emoji", "handle", "A" * 32, "no row"),
    ("user", "avatar_handle", "a" * 32, "no row"),
    ("user", "avatar_handle", 1, "does not describe a file"),
    ("linkifier", "pattern", "(", "is no linkifier that works"),
    ("linkifier", "alternative_url_templates", "[1]", "is no list of texts"),
    ("realm", "topics_policy", "zzz", "topics_policy"),
    ("realm", "message_edit_history_visibility_policy", "qqq", "visibility_policy"),
    ("realm", "email_address_visibility", 77, "email_address_visibility"),
    ("playground", "url_template", "javascript:alert({code})", "Invalid URL template"),
    ("realm_domain", "domain", "no domain", "omain"),
    ("alert_word", "word", "", "word is empty"),
    ("reaction", "emoji_code", "../1", "emoji_code is no id"),
)  # fmt: skip


def twice(rows: Rows) -> None:
    rows.append(rows[-1])


def again_below(rows: Rows) -> None:
    rows.append(dict(rows[0], id=rows[-1]["id"] + 1))


# File, change of its rows, and the error.
CHANGES: tuple[tuple[str, Callable[[Rows], Any], str], ...] = (
    ("realm", lambda rows: rows.clear(), "has not one line"),
    ("realm", lambda rows: rows.append(dict(rows[0], id=FOREIGN)), "has not one line"),
    ("message", twice, "ids do not ascend"),
    ("message", lambda rows: rows.reverse(), "line 2: id ids do not ascend"),
    ("user_message", twice, BY_THE_DATABASE),
    ("user", again_below, "user_settings.jsonl': has fewer lines"),
    ("user_settings", lambda rows: rows.pop(), "has fewer lines"),
    ("user_settings", twice, "has more lines"),
    ("user_settings", lambda rows: rows.reverse(), "line 1: is of another row"),
    ("channel", again_below, BY_THE_DATABASE),
    ("reaction", again_below, BY_THE_DATABASE),
    ("conversation_member", lambda rows: rows.clear(), "has no users"),
    ("conversation_member", lambda rows: rows[0].update(user_id=999_999), "refers to no user"),
    ("user_group", lambda rows: rows.clear(), "refers to user_group"),
    ("user", lambda rows: rows[-1].update(bot_owner_id=999_999), "refers to user 999999"),
    ("attachment", lambda rows: rows.clear(), "is a file of no row"),
)  # fmt: skip

MANIFESTS: tuple[tuple[Callable[[dict[str, Any], dict[str, bytes]], Any], str], ...] = (
    (lambda m, e: m.update(format=2), "another format"),
    (lambda m, e: m.update(service="specd payment"), "another service"),
    (lambda m, e: m.update(export_type="public"), "is no export of the type"),
    (lambda m, e: m.update(realm=None), "does not describe the organization"),
    (lambda m, e: m.update(realm={"host": ""}), "does not describe the organization"),
    (lambda m, e: m["files"].pop() and e.pop("audit_log.jsonl"), "other files than this release"),
    (lambda m, e: m["files"][0]["columns"].reverse(), "other columns than in this release"),
    (lambda m, e: m["files"][0].update(rows=None), "has no number of rows"),
    (lambda m, e: m["files"][0].update(rows=10**9), "lines, not"),
    (lambda m, e: m["files"][0].update(sha256="0" * 64), "its SHA-256 is not the manifest's"),
)  # fmt: skip


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
def preparation() -> Preparation:
    return WITH_EVERYTHING


@pytest.fixture
def archive(here: Installation, cast: Cast) -> Path:
    return here.export(cast.realm_id)


def contents(installation: Installation) -> dict[str, int]:
    with installation.database.reading() as reader:
        return count_rows(reader, ChatBase.metadata)


def refused(installation: Installation, forged: Path) -> ArchiveRefused:
    before = contents(installation)
    with pytest.raises(ArchiveRefused) as refusal:
        installation.bring(forged, HOST)
    assert contents(installation) == before
    with pytest.raises(NoSuchImport):
        installation.imports.discard(HOST)
    return refusal.value


@pytest.mark.parametrize(
    ("chat_filled", "concerned"),
    [
        ("sqlite", lambda told: True),
        ("postgresql", lambda told: told == BY_THE_DATABASE),
        pytest.param(
            "postgresql", lambda told: told != BY_THE_DATABASE, marks=pytest.mark.exhaustive
        ),
    ],
    indirect=["chat_filled"],
    ids=["sqlite", "postgresql-by the database", "postgresql-by the reader"],
)
def test_wrong_value_is_refused(
    archive: Path, here: Installation, tmp_path: Path, concerned: Callable[[str], bool]
) -> None:
    """Each change is made to an otherwise accepted archive.

    Most are rejected when the archive is read, on either database.
    """
    values = [each for each in VALUES if concerned(each[3])]
    assert len(values) >= 4
    for part, column, each, told in values:
        value = each() if callable(each) else each

        def change(rows: Rows, column: str = column, value: object = value) -> None:
            (row, *_) = [row for row in rows if row[column] is not None] or rows
            assert row[column] != value or type(row[column]) is not type(value)
            row[column] = value

        refusal = refused(here, forge(archive, tmp_path / "forged.zip", part, change))
        said = str(refusal)
        assert told in said, (part, column, value, said)
        if "no row" not in told and "another size" not in told:
            assert refusal.file == f"{part}.jsonl", (part, column, said)
            assert refusal.line is not None, said
    assert len(VALUES) + len(CHANGES) + len(MANIFESTS) >= 60
    here.bring(forge(archive, tmp_path / "honest.zip", "message", lambda rows: None), HOST)


def test_only_plans_may_be_in_the_future() -> None:
    """Every time in an archive comes from a server, so past facts have no future times."""
    target: Any = SimpleNamespace(latest=NOW)
    now, later = [NOW.isoformat()[:-6] + "Z"], ["2026-11-21T12:00:00.001Z"]
    times = [
        table_of(part.table).c[column]
        for part in PARTS
        for column in part.columns
        if isinstance(table_of(part.table).c[column].type, UtcMs)
    ]
    assert len(times) > 15
    for column in times:
        convert = converter(column, target)
        assert convert(now) == [NOW]
        if (column.table.name, column.name) in TO_COME:
            assert convert(later)[0] > NOW
        else:
            with pytest.raises(ValueError, match="is in the future"):
                convert(later)


def test_wrong_rows_are_refused(archive: Path, here: Installation, tmp_path: Path) -> None:
    for part, change, told in CHANGES:
        said = str(refused(here, forge(archive, tmp_path / "forged.zip", part, change)))
        assert told in said, (part, said)
    here.bring(archive, HOST)


def test_wrong_pictures_of_people_are_refused(
    archive: Path, here: Installation, tmp_path: Path
) -> None:
    for content in (b"", SCRIPT, PIXEL[:40], black_png(10_000, 10_000)):
        forged = forge_file(archive, tmp_path / "forged.zip", "avatars", content)
        assert "is no picture" in str(refused(here, forged))
    here.bring(forge_file(archive, tmp_path / "honest.zip", "avatars", PIXEL), HOST)


def test_wrong_manifest_is_refused(archive: Path, here: Installation, tmp_path: Path) -> None:
    for change, told in MANIFESTS:
        said = str(refused(here, forge_manifest(archive, tmp_path / "forged.zip", change)))
        assert told in said, said
    here.bring(archive, HOST)


def test_markup_is_sanitized(archive: Path, here: Installation, tmp_path: Path) -> None:
    """Rendered texts are shown in browsers unchanged."""
    markup = '<p onclick="x()">a<script>alert(1)</script><img src="javascript:x"></p>'

    def change(rows: Rows) -> None:
        for row in rows:
            row["rendered_content"] = markup

    run = here.bring(forge(archive, tmp_path / "forged.zip", "message", change), HOST).run
    messages = ChatBase.metadata.tables["message"]
    query = select(messages.c.rendered_content).where(messages.c.realm_id == run.realm_id)
    with here.database.reading() as reader:
        found = set(reader.execute(query).scalars())
    assert found == {"<p>a<img></p>"}
