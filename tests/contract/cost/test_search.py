"""A slice of `scripts/cost --search`: some inputs of each target that needs no database, against a
bound that no busy machine reaches. And the search finds what is there to find.
"""

from __future__ import annotations

import time
from random import Random

import pytest

from tests.contract.cost.searching import BOUND_S, Grammar, Search, Target, calls, written
from tests.contract.cost.targets import TARGETS

INPUTS = 10
GENEROUS = 20
"""Times the bound: only what grows out of all bounds takes as long."""
SLICED = ("message", "edits", "search", "names", "patterns", "json", "mail", "passwords")


@pytest.mark.parametrize("name", SLICED)
def test_no_input_grows_out_of_all_bounds(name: str) -> None:
    target = TARGETS[name]
    with target.open() as work:
        search = Search(target, lambda texts: (work.spend(work.prepare(texts)), b""), Random(1))
        search.run(until=time.monotonic() + 60, most=INPUTS)
    assert search.worst.seconds < GENEROUS * BOUND_S


def test_it_finds_the_dearest_input_and_repeats_itself() -> None:
    """Cost is how often `ab` stands in the text: nearly as often as there is room."""
    grammar = Grammar(100, ("a", "b", "c"))
    target = Target("counted", (grammar,), calls(len))
    found = []
    for _ in range(2):
        search = Search(target, lambda texts: (texts[0].count("ab") / 50, b""), Random(7))
        search.run(until=time.monotonic() + 60, most=500)
        found.append(written(search.worst.genome[0], grammar))
    assert found[0].count("ab") > 40
    assert found[0] == found[1]
