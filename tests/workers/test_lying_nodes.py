"""A part of the histories of lying nodes; `tests.workers.lying_nodes` runs thousands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adapters.chain.reader import ChainReader
from tests.workers import lying_nodes
from tests.workers.lying_nodes import play
from tests.workers.mutants import MUTANTS
from tests.workers.told import Told
from workers.chain_view import ChainView

SEEDS = (*range(11), 3922)
"""The last one once lost a payment."""
FOUND_BY: Mapping[str, tuple[int, ...]] = {
    "counted: one log of each number": (7, 9),
    "counted: twice": (0, 1),
    "counted: dropped": (0, 2),
    "refuted: believed": (1, 4),
    "taken back: without proof": (56, 66),
    "progress: held up": (3, 0),
    "told: no payment taken off": (1, 2),
    "told: paid left in silence": (1, 2),
}
"""Histories that detect a planted fault.

If the watcher's requests change, they may not: `python -m tests.workers.lying_nodes --plant NAME`
finds others.
"""
ONLY_FORGED = frozenset({"refuted: believed"})
"""Faults whose histories have one endpoint, which forges logs.

With several endpoints the logs are disputed.
"""


@pytest.mark.parametrize("part", range(2))
def test_whatever_nodes_say_the_books_equal_a_recount(
    part: int, sqlite_template: Path, memory: Path
) -> None:
    for seed in SEEDS[part::2]:
        assert play(sqlite_template, memory, seed) == []


def test_the_histories_tell_a_watcher_that_forgets(
    sqlite_template: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that cannot fail proves nothing: without reading all endpoints it fails."""

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
    if name in ONLY_FORGED:
        monkeypatch.setattr(lying_nodes, "LIES", ("forge",))
        monkeypatch.setattr(lying_nodes, "ENDPOINTS", (1,))
    assert any(play(sqlite_template, memory, seed) for seed in FOUND_BY[name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(10))
def test_books_equal_a_recount_after_further_histories(
    part: int, sqlite_template: Path, memory: Path
) -> None:
    for seed in range(11 + part, 211, 10):
        assert play(sqlite_template, memory, seed) == []


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
