"""A slice of the histories of lying nodes; `tests.workers.lying_nodes` plays thousands."""

from pathlib import Path

import pytest

from adapters.chain.reader import ChainReader
from tests.workers import lying_nodes
from tests.workers.lying_nodes import play
from workers.chain_view import ChainView

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
