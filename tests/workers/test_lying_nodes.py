"""A slice of the histories of lying nodes; `tests.workers.lying_nodes` plays thousands."""

from pathlib import Path
from typing import Any

import pytest

from adapters.chain.reader import ChainReader
from tests.workers import lying_nodes
from tests.workers.lying_nodes import play
from tests.workers.mutants import MUTANTS
from tests.workers.told import Told
from workers.chain_view import ChainView

SEEDS = (*range(23), 3922)
"""The last one once lost a payment."""
MOST_HISTORIES = 60
"""Histories that have to show a planted fault."""
FOUND_BY = {
    "counted: one log of each number": 18,
    "counted: dropped": 2,
    "refuted: believed": 9,
    "taken back: without proof": 6,
}
"""Histories that show a fault and are played first, which saves the time of the others."""


@pytest.mark.parametrize("part", range(4))
def test_whatever_nodes_say_the_books_equal_a_recount(
    part: int, sqlite_template: Path, memory: Path
) -> None:
    for seed in SEEDS[part::4]:
        assert play(sqlite_template, memory, seed) == []


def test_the_histories_tell_a_watcher_that_forgets(
    sqlite_template: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that cannot fail proves nothing: without the readings of all endpoints it does."""

    def read_nowhere(self: ChainView, *_: object) -> list[object]:
        return []

    monkeypatch.setattr(lying_nodes.History, "_maybe_hide", lambda self: None)
    monkeypatch.setattr(ChainView, "read_everywhere", read_nowhere)
    monkeypatch.setattr("workers.chain_view.DOUBTS", 0)
    assert any(play(sqlite_template, memory, seed) for seed in SEEDS), ChainReader


@pytest.mark.parametrize("name", MUTANTS)
def test_histories_report_each_planted_fault(
    name: str, sqlite_template: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[name](monkeypatch)
    first = FOUND_BY.get(name, 0)
    seeds = (first, *range(MOST_HISTORIES))
    assert any(play(sqlite_template, memory, seed) for seed in seeds)


def change(kind: str, status: str, paid: int, block: str = "") -> tuple[str, dict[str, Any]]:
    invoice = {"status": status, "exception": "none", "amount_paid": str(paid)}
    data: dict[str, Any] = {"invoice": {**invoice, "amount_pending": "0", "at": f"{kind} {paid}"}}
    if block:
        data["payment"] = {"block_hash": block, "tx_hash": "t", "log_index": 0, "amount": "5"}
    return f"invoice.{kind}", data


RECEIVED, PAID = change("payment_received", "paid", 5, "a"), change("paid", "paid", 5)
TAKEN_OFF = change("payment_reorged", "unpaid", 0, "a")
REORGED = change("reorged", "unpaid", 0)


@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        ([RECEIVED, PAID], ""),
        ([RECEIVED, RECEIVED], "received twice"),
        ([PAID], "add up to 0, not 5"),
        ([RECEIVED, PAID, PAID], "paid comes twice"),
        ([RECEIVED, PAID, TAKEN_OFF, REORGED], "never replaced"),
        ([RECEIVED, PAID, change("expired", "expired", 5)], "nothing says so"),
        ([TAKEN_OFF], "never received"),
        ([REORGED], "without a payment"),
        ([change("paid", "unpaid", 0)], "shows unpaid"),
    ],
)
def test_the_reader_of_events_complains(
    events: list[tuple[str, dict[str, Any]]], complaint: str
) -> None:
    found = Told(events).wrong(replaced=())
    assert any(complaint in each for each in found) if complaint else found == []


def test_a_block_that_was_replaced_is_a_reason() -> None:
    told = Told([RECEIVED, PAID, change("payment_reorged", "unpaid", 0, "a"), REORGED])
    assert all("never replaced" not in each for each in told.wrong(replaced={"a"}))
