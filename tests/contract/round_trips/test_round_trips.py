"""An organization is the same after an export and an import, for random histories."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from models.chat.tables import Realm, User
from specd.db import Database
from tests.contract.continuity.history import History
from tests.contract.round_trips.comparing import Comparison
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.importing import Installation, another_installation, store_of
from tests.support.chat.people import KEYS, Cast, Member
from tests.support.frozen_clock import FrozenClock

SEEDS = range(1, int(os.environ.get("ROUND_TRIPS", "2")) + 1)
LENGTH = 120
KINDS = ("sqlite", "postgresql")
NOBODY_READS = (136,)
"""Histories that end with all messages in private channels without subscribers."""


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    kind = request.getfixturevalue("target")
    with another_installation(request, tmp_path / "elsewhere", kind) as installation:
        yield installation


@pytest.fixture
def here(
    chat_database: Database, clock: FrozenClock, tmp_path: Path, chat_app: ChatApp
) -> Installation:
    return Installation(chat_database, clock, tmp_path / "here", store_of(chat_app))


def keys_at(database: Database, members: list[Member]) -> dict[str, Member]:
    """Return the active members with their keys in a database, by name."""
    with database.reading() as reader:
        rows = reader.execute(
            select(User.delivery_email, User.id, User.api_key_nonce, User.api_key_sha256)
            .join(Realm, Realm.id == User.realm_id)
            .where(User.is_active, Realm.host == "acme.example")
        ).all()
    by_email = {row.delivery_email: row for row in rows}
    found = {}
    for member in members:
        row = by_email.get(member.email)
        if row is not None:
            key = KEYS.find_key(row.api_key_nonce, row.api_key_sha256)
            assert key is not None
            found[member.name] = replace(member, id=row.id, key=key)
    return found


NARROWS: tuple[list[tuple[str, str]], ...] = (
    [],
    [("is", "starred")],
    [("is", "mentioned")],
    [("is", "dm")],
    [("is", "unread")],
    [("channels", "public")],
    [("search", "words")],
    [("search", "silence")],
    [("topic", "ghost")],
    [("has", "reaction")],
)


def what_is_read(client: ChatClient, narrow: list[tuple[str, str]]) -> Any:
    """Return messages as users read them, without ids."""
    terms = [{"operator": operator, "operand": operand} for operator, operand in narrow]
    answer = client.get("/messages", anchor="newest", num_before=200, num_after=0, narrow=terms)
    if answer["result"] == "error":
        return re.sub("[0-9]+", "#", answer["msg"])
    return [
        (
            message["timestamp"], message["sender_full_name"], message["subject"],
            message["type"], message["flags"], re.sub("[0-9]+", "#", message["content"]),
            sorted(each["emoji_name"] for each in message["reactions"]),
            len(message.get("edit_history", ())), len(message["submessages"]),
        )
        for message in answer["messages"]
    ]  # fmt: skip


CASES = [
    pytest.param(
        seed,
        here,
        target,
        marks=[] if is_daily else pytest.mark.exhaustive,
        id=f"{seed}-{here}-{target}",
    )
    for seed in SEEDS
    for here, target in product(KINDS, KINDS)
    for is_daily in [(seed % 2 == 0) == (here == target)]
]
"""Each history moves between two of the four pairs of databases, and with `--all` between all."""


@pytest.mark.parametrize(("seed", "chat_filled", "target"), CASES, indirect=["chat_filled"])
def test_random_organization_is_unchanged(
    seed: int,
    target: str,
    as_nobody: ChatClient,
    chat_app: ChatApp,
    cast: Cast,
    clock: FrozenClock,
    here: Installation,
    elsewhere: Installation,
) -> None:
    history = History(as_nobody, here.database, cast, clock, seed)
    history.begin()
    for _ in range(LENGTH):
        history.act_at_random()
    archive = here.export(cast.realm_id)
    imported = elsewhere.bring(archive)
    found = Comparison(archive, elsewhere.export(imported.run.realm_id))
    assert found.differences == []
    assert found.compared > 1000
    assert found.moved > 300

    members = list(history.world.members.values())
    readers = keys_at(here.database, members)
    read = 0
    expected = {}
    for name, member in readers.items():
        for number, narrow in enumerate(NARROWS):
            expected[name, number] = what_is_read(as_nobody.acting_as(member), narrow)
    chat_app.play(elsewhere.database, clock)
    for name, member in keys_at(elsewhere.database, members).items():
        for number, narrow in enumerate(NARROWS):
            there = what_is_read(as_nobody.acting_as(member), narrow)
            assert there == expected.pop((name, number)), (name, narrow)
            read += len(there)
    assert expected == {}
    assert read > 0 or seed in NOBODY_READS  # a history may have deleted nearly all messages
