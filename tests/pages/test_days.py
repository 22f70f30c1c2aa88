"""Some tasks of a merchant and a shopper with the keyboard alone. scripts/daily-pages does all."""

from __future__ import annotations

from pathlib import Path

from tests.pages import days
from tests.pages.browser import Browser


def test_merchant_works_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    tasks = (
        days.signs_in,
        days.resolves_an_invoice,
        days.exports_and_signs_out,
    )
    day = days.live_as_merchant(browser, tmp_path, by_keyboard=True, tasks=tasks)
    assert len(day.done) == len(tasks)
    assert day.console == []
    assert day.expected > 0, "the failed request with the wrong key must be recorded"
    assert len(days.MERCHANT) >= 10


def test_shopper_pays_by_keyboard(browser: Browser) -> None:
    tasks = (
        days.reads_what_to_pay,
        days.reads_it_in_german,
        days.pays_with_a_wallet,
        days.watches_it_being_confirmed,
    )
    day = days.live_as_shopper(browser, by_keyboard=True, tasks=tasks)
    assert len(day.done) == len(tasks)
    assert day.console == []
    assert len(days.SHOPPER) >= 10
