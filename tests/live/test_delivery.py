"""A part of the delivery campaign; `scripts/delivery` runs it at full size."""

from __future__ import annotations

from tests.live.delivery import run_delivery, run_races
from tests.support.chat.people import Cast


def test_every_message_is_sent_once_while_workers_die(chat_filled: tuple[str, Cast]) -> None:
    url, cast = chat_filled
    report = run_delivery(url, cast, messages=150, workers=3, spread_s=3, kill_every_s=0.2, seed=1)
    assert (report.lost, report.doubled, report.early, report.torn) == (0, 0, 0, 0)
    assert report.kills > 0


def test_a_change_and_a_delivery_never_both_win(chat_filled: tuple[str, Cast]) -> None:
    url, cast = chat_filled
    races = run_races(url, cast, races=30, workers=2, seed=1)
    assert [race for race in races if not race.consistent] == []
