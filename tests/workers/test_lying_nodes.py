"""A slice of the histories of lying nodes; `tests.workers.lying_nodes` plays thousands."""

from pathlib import Path

import pytest

from adapters.chain.node import Node
from adapters.chain.reader import Block, ChainReader
from models.payment.checkpoints import BlockMark
from tests.workers import lying_nodes
from tests.workers.lying_nodes import play
from workers.chain_books import ChainBooks
from workers.chain_view import ChainView
from workers.chain_watcher import ChainWatcher

SEEDS = (*range(23), 3922)
"""The last one once lost a payment."""


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


def test_the_histories_tell_a_watcher_that_takes_back_without_proof(
    sqlite_template: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end its books are right; on the way it told of reorganisations that were none."""
    unknown = property(lambda self: -1, lambda self, _: None)
    monkeypatch.setattr(Node, "head_number", unknown, raising=False)
    find_paid_above = ChainBooks.paid_above

    def find_dropped(
        self: ChainWatcher, head: Block, base: BlockMark, *_: object, **__: object
    ) -> set[str]:
        return {each.block_hash for each in find_paid_above(self._books, base.number)}

    monkeypatch.setattr(ChainWatcher, "_find_dropped", find_dropped)
    found = [each for seed in range(8) for each in play(sqlite_template, memory, seed)]
    assert any("on the way" in each and "was never replaced" in each for each in found)
