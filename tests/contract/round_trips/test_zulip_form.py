"""An organization is the same after a conversion to Zulip's format and back, except for listed
differences.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters.zulip_tarball import ZulipTarball
from models.chat.exports.tables import PARTS
from models.chat.zulip_form.table import without_field, zulip_tables
from specd.db import Database, UtcMs, table_of
from tests.contract.continuity.history import History
from tests.contract.round_trips.comparing import Rows, read
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.importing import Installation, store_of
from tests.support.chat.moved import make_everything
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from workers.zulip_exports import write_zulip
from workers.zulip_imports import converted

SEEDS = range(1, int(os.environ.get("ROUND_TRIPS", "2")) + 1)
LENGTH = 120
HOST = "acme.example"
WHOLE_SECONDS = {
    ("message_edit", "edited_at"), ("message", "last_edit_at"), ("message", "last_moved_at"),
}  # fmt: skip
"""Times that Zulip stores in whole seconds, or in one column for two of them."""
KEYS = {
    "user_topic": ("user_id", "channel_id", "topic"),
    "user_group_member": ("group_id", "user_id"),
    "subgroup": ("group_id", "subgroup_id"),
    "message_edit": ("message_id", "id"),
}
HANDLES = {"attachment": "handle", "realm_emoji": "handle", "user": "avatar_handle"}
_HANDLE = re.compile("[0-9a-f]{32}")


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


def there_and_back(archive: Path, folder: Path) -> tuple[Rows, Rows]:
    """Return the rows before and after both conversions."""
    tarball = folder / "zulip.tar.gz"
    messages = write_zulip(archive, tarball)
    with converted(tarball, folder / "work", host=HOST, zulip_host=HOST) as made:
        assert made.messages == messages
        (before, _), (after, _) = read(archive), read(made.archive)
    return before, after


def _is_gone(scheduled: dict[str, Any], messages: set[int]) -> bool:
    """Return whether a scheduled message was sent and then deleted, so that it is invisible."""
    return scheduled["state"] == "sent" and scheduled["message_id"] not in messages


def comparable(rows: Rows, handles: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows without data that Zulip's format cannot represent and without new ids."""
    lost = without_field()[1]
    shown = {row["attachment_id"] for row in rows["attachment_message"]}
    bots = {row["id"] for row in rows["user"] if row["is_system_bot"]}
    scheduled = {row["id"] for row in rows["scheduled_message"]}
    messages = {row["id"] for row in rows["message"]}
    members: dict[int, list[int]] = {}
    for row in rows["conversation_member"]:
        members.setdefault(row["conversation_id"], []).append(row["user_id"])
    made: dict[str, list[dict[str, Any]]] = {}
    for part in PARTS:
        name = part.name
        if name.startswith("conversation") or "*" in lost.get(name, {}):
            continue
        columns = table_of(part.table).c
        kept = []
        for row in rows[name]:
            if name == "attachment" and row["id"] not in shown:
                continue
            if name == "user_message" and row["user_id"] in bots:
                continue
            if name == "scheduled_message" and _is_gone(row, messages):
                continue
            values = {each: row[each] for each in row if each not in lost.get(name, {})}
            for each in values:
                if isinstance(values[each], str):
                    values[each] = _HANDLE.sub(lambda m: handles.get(m[0], m[0]), values[each])
                    if isinstance(columns[each].type, UtcMs):
                        at = datetime.fromisoformat(values[each])
                        values[each] = (
                            at.replace(microsecond=0) if (name, each) in WHOLE_SECONDS else at
                        )
            if values.get("kind") == "anonymous":
                del values["date_created"]  # Zulip has no groups without a name
            if values.get("conversation_id") is not None:
                values["conversation_id"] = sorted(members[values["conversation_id"]])
            if values.get("scheduled_message_id") not in scheduled:
                values.pop("scheduled_message_id", None)
            if name == "scheduled_message" and values["recipient_ids"] is not None:
                values["recipient_ids"] = sorted(orjson.loads(values["recipient_ids"]))
            kept.append(values)
        key = KEYS.get(name, part.order)
        kept.sort(key=lambda row: [row[each] for each in key])
        if name == "message_edit":
            for values in kept:
                del values["id"]
        made[name] = kept
    return made


def differences(before: Rows, after: Rows) -> tuple[list[str], int]:
    """Return the differences, and the number of compared values."""
    handles: dict[str, str] = {}
    for name, column in HANDLES.items():
        new = {row["id"]: row[column] for row in after[name]}
        for row in before[name]:
            if row["id"] in new and row[column] is not None:
                handles[row[column]] = new[row["id"]]
    old, now = comparable(before, handles), comparable(after, {})
    found, compared = [], 0
    for name in old:
        if len(old[name]) != len(now[name]):
            found.append(f"{name}: {len(old[name])} rows became {len(now[name])}")
        for a, b in zip(old[name], now[name], strict=False):
            compared += len(a)
            found += [
                f"{name}, {column}: {a.get(column)!r} became {b.get(column)!r}"
                for column in a.keys() | b.keys()
                if a.get(column) != b.get(column)
            ]
    return found, compared


@pytest.mark.parametrize("seed", SEEDS)
def test_random_organization_is_unchanged(
    seed: int, as_nobody: ChatClient, cast: Cast, clock: FrozenClock, here: Installation,
    tmp_path: Path,
) -> None:  # fmt: skip
    history = History(as_nobody, here.database, cast, clock, seed)
    history.begin()
    for _ in range(LENGTH):
        history.act_at_random()
    before, after = there_and_back(here.export(cast.realm_id), tmp_path)
    found, compared = differences(before, after)
    assert found == [], "\n".join(found)
    assert compared > 1000


def test_organization_with_all_features_is_unchanged(
    as_nobody: ChatClient, cast: Cast, clock: FrozenClock, here: Installation, tmp_path: Path
) -> None:
    make_everything(as_nobody, cast, now=int(clock.now().timestamp()))
    archive = here.export(cast.realm_id)
    before, after = there_and_back(archive, tmp_path)
    found, _ = differences(before, after)
    assert found == [], "\n".join(found)
    assert len(before["message"]) > 4
    assert before["attachment_message"] != []
    assert any(row["handle"] for row in after["realm_emoji"])
    assert sum(row["avatar_handle"] is not None for row in after["user"]) == 1
    folder = tmp_path / "unpacked"
    folder.mkdir()
    tarball = ZulipTarball(tmp_path / "zulip.tar.gz", folder)
    assert tarball.losses.unknown == {}
    for name in tarball.counts:
        table = zulip_tables()[name]
        for _, row in tarball.rows(name):
            assert row.keys() <= table.fields_of(12), name
    imported, _ = here.bring_zulip(tmp_path / "zulip.tar.gz", "moved.example", zulip_host=HOST)
    assert imported.run.host == "moved.example"
