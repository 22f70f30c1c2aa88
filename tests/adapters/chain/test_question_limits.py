"""The width of a request settles just below an endpoint's limit, and grows again."""

import pytest

from adapters.chain.limits import find_named_width, is_rate_limit
from adapters.chain.question_limits import Exhausted, QuestionLimits


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def ask(limits: QuestionLimits, takes: int, times: int = 60, *, worded: bool = True) -> int:
    """Send requests as wide as possible and return how often they were refused."""
    refused = 0
    for _ in range(times):
        if limits.width > takes:
            limits.refuse(limits.width, all_receivers=False, worded=worded)
            refused += 1
        else:
            limits.accept(limits.width)
    return refused


@pytest.mark.parametrize("takes", [1, 2, 5, 10, 100, 999, 1000])
def test_width_settles_at_the_limit(takes: int) -> None:
    limits = QuestionLimits(1000, Clock())
    assert ask(limits, takes) <= 20
    assert limits.width == takes
    assert ask(limits, takes) == 0


def test_refused_width_is_forgotten_after_a_while() -> None:
    clock = Clock()
    limits = QuestionLimits(1000, clock)
    ask(limits, 10)
    clock.seconds += 3599
    ask(limits, 1000)
    assert limits.width == 10
    clock.seconds += 1
    ask(limits, 1000)
    assert limits.width == 1000


def test_failure_is_forgotten_sooner_than_a_refusal() -> None:
    clock = Clock()
    limits = QuestionLimits(1000, clock)
    ask(limits, 10, worded=False)
    clock.seconds += 60
    ask(limits, 1000)
    assert limits.width == 1000


def test_below_one_block_the_number_of_receivers_is_reduced() -> None:
    limits = QuestionLimits(1, Clock())
    limits.refuse(1, all_receivers=True, worded=True)
    assert not limits.takes_all_receivers
    while limits.receivers_at_once > 1:
        limits.refuse(1, all_receivers=False, worded=True)
    with pytest.raises(Exhausted):
        limits.refuse(1, all_receivers=False, worded=True)


@pytest.mark.parametrize(
    ("message", "width"),
    [
        ("up to a 10 block range.", 10),
        ("up to a 2K block range", None),
        ("Max range: 800", 800),
        ("please limit the query to at most 500 blocks", 500),
        ("Maximum allowed number of requested blocks is 100", 100),
        ("exceeded maximum allowed range: 100", 100),
        ("retry with the range 1-500", 500),
        ("range too large", None),
        ("limited to a 10,000 range", None),
        ("limit " + "9" * 400, None),
    ],
)
def test_number_in_a_refusal_is_used(message: str, width: int | None) -> None:
    found = find_named_width(message, below=1000)
    assert found == width or (width == 500 and found in (1, 500))


@pytest.mark.parametrize(
    ("code", "message"),
    [(429, ""), (-32005, "daily request count exceeded, request rate limited"), (0, "throttled")],
)
def test_rate_limit_is_not_a_range_error(code: int, message: str) -> None:
    assert is_rate_limit(code, message)
