"""A part of the storm of bots; `scripts/webhook-storm` runs it at full size."""

from __future__ import annotations

from tests.live.bot_storm import run_moments, run_storm
from tests.support.chat.people import Cast


def test_every_message_is_answered_once_while_workers_die(chat_filled: tuple[str, Cast]) -> None:
    url, cast = chat_filled
    report = run_storm(url, cast, messages=30, workers=3, kill_every_s=0.2, seed=1, kill_for_s=3)
    assert (report.lost, report.doubled, report.renamed, report.complaints) == (0, 0, 0, 0)
    assert report.repeated > 0
    assert report.kills > 0


def test_a_worker_may_die_at_any_moment(chat_filled: tuple[str, Cast]) -> None:
    """The request is repeated if it was sent and its response was not committed."""
    url, cast = chat_filled
    assert run_moments(url, cast) == {
        "die_when_it_is_taken": (1, 1),
        "die_when_it_is_answered": (2, 1),
        "die_when_it_is_settled": (2, 1),
        "die_when_it_is_done": (1, 1),
    }
