"""A sample of `scripts/cost --search`: some inputs of each target without a database, with limits
that busy machines do not reach, and a test of the search itself.
"""

from __future__ import annotations

import time
from random import Random

import pytest

from tests.contract.cost.searching import BOUND_S, Grammar, Search, Target, calls, written
from tests.contract.cost.targets import TARGETS

INPUTS = 10
GENEROUS = 20
"""Multiple of the limit that only excessive growth exceeds."""
SLICED = ("message", "edits", "search", "names", "patterns", "json", "mail", "passwords")


@pytest.mark.parametrize("name", SLICED)
def test_no_input_exceeds_all_limits(name: str) -> None:
    target = TARGETS[name]
    with target.open() as work:
        search = Search(target, lambda texts: (work.spend(work.prepare(texts)), b""), Random(1))
        search.run(until=time.monotonic() + 60, most=INPUTS)
    assert search.worst.seconds < GENEROUS * BOUND_S


def test_search_finds_the_most_expensive_input_reproducibly() -> None:
    """The cost is the number of `ab` in the text. The result must nearly fill the text."""
    grammar = Grammar(100, ("a", "b", "c"))
    target = Target("counted", (grammar,), calls(len))
    found = []
    for _ in range(2):
        search = Search(target, lambda texts: (texts[0].count("ab") / 50, b""), Random(7))
        search.run(until=time.monotonic() + 60, most=500)
        found.append(written(search.worst.genome[0], grammar))
    assert found[0].count("ab") > 40
    assert found[0] == found[1]
