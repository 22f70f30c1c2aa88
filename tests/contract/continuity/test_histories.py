"""A snapshot and the events after it give the next snapshot, regardless of the changes between
them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest

import specs
from specd.db import Database
from tests.contract.continuity.history import History
from tests.contract.continuity.operations.table import LEFT_OUT, OPERATIONS
from tests.contract.continuity.store import APPLIERS
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast
from tests.support.documents import resolved
from tests.support.frozen_clock import FrozenClock
from tests.support.marks import in_all

DOCUMENT = specs.load("chat")
FIRST = int(os.environ.get("SPECD_HISTORY_FIRST", "1"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("SPECD_HISTORIES", "1")))
LENGTH = int(os.environ.get("SPECD_HISTORY_LENGTH", "40"))
AT_EACH_STEP = bool(os.environ.get("SPECD_HISTORY_AT_EACH_STEP"))
"""Compare after each step, which is slow but shows the call that caused a difference."""
TOGETHER = 5
ROUNDS = 12
"""Several rounds are needed, because operations need objects of others."""
BASICS = ("update_channel", "subscribe", "send_message")
"""These restore objects that others removed."""


def test_every_operation_is_in_histories_or_has_a_reason() -> None:
    changing = {
        operation["operationId"]
        for item in DOCUMENT["paths"].values()
        for method, operation in item.items()
        if method in ("post", "put", "patch", "delete")
    }
    assert changing == OPERATIONS.keys() | LEFT_OUT.keys()
    assert not OPERATIONS.keys() & LEFT_OUT.keys()


def test_every_type_of_event_has_an_applier() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    kinds = [schemas[each["$ref"].rpartition("/")[2]] for each in schemas["Event"]["oneOf"]]
    types = {
        name for kind in kinds for name in resolved(DOCUMENT, kind["properties"]["type"])["enum"]
    }
    assert types <= APPLIERS.keys()


def assert_no_differences(history: History) -> None:
    history.catch_up()
    found = history.compare()
    assert not found, "\n".join(["", *history.said[-80:], "", *in_short(found)])


def in_short(found: list[str]) -> list[str]:
    """Return one difference of each kind, and the number of all."""
    kinds: dict[str, list[str]] = {}
    for each in found:
        kind = re.sub(r"/[0-9]+", "/*", each.partition(": ")[2].partition(": ")[0])
        kinds.setdefault(kind, []).append(each)
    return [f"{len(alike)} of {kind}: {alike[0]}" for kind, alike in kinds.items()]


@pytest.fixture
def make(
    as_nobody: ChatClient, chat_database: Database, cast: Cast, clock: FrozenClock
) -> Callable[[int], History]:
    """Return a function that creates the history of a seed."""
    return lambda seed: History(as_nobody, chat_database, cast, clock, seed)


@pytest.mark.parametrize("chat_filled", ["sqlite", in_all("postgresql")], indirect=True)
@pytest.mark.parametrize("seed", SEEDS)
def test_events_continue_the_snapshot(make: Callable[[int], History], seed: int) -> None:
    history = make(seed)
    history.begin()
    history.follow()
    for step in range(LENGTH):
        if step % 10:
            history.act_at_random()
        else:
            history.at_once([history.world.pick(*OPERATIONS) for _ in range(TOGETHER)])
        if AT_EACH_STEP:
            assert_no_differences(history)
    assert_no_differences(history)


@pytest.mark.parametrize("chat_filled", [in_all("sqlite"), "postgresql"], indirect=True)
def test_each_operation_has_complete_events(make: Callable[[int], History]) -> None:
    """Each operation succeeds and its events are complete. The tests of handlers cover each on
    SQLite.
    """
    history = make(0)
    history.begin()
    history.follow()
    waiting = [*OPERATIONS]
    history.world.rng.shuffle(waiting)
    waiting.sort(key=lambda each: each != "deactivate_own_user")  # users that it needs
    for _ in range(ROUNDS):
        for basic in BASICS:
            history.insist(basic)
        history.enable_reports()
        history.bring_back("othello")
        for each in waiting:
            noun = each.partition("_")[2]
            for maker in (f"create_{noun}", f"create_{noun}s", f"add_{noun}"):
                history.insist(maker)
        waiting = [each for each in waiting if not history.insist(each)]
        if not waiting:
            break
    assert not waiting, "\n".join([*waiting, *history.said[-80:]])
    assert_no_differences(history)
