"""A slice of the fire campaign: `scripts/fire` is the whole of it."""

from __future__ import annotations

from pathlib import Path

from tests.live.fire import run_cancel_races, run_storm


def test_one_invoice_per_key_while_workers_die(database_url: str, tmp_path: Path) -> None:
    report = run_storm(database_url, tmp_path, keys=40, copies=8, kill_every_s=0.25, seed=1)
    assert report.invoices == 40
    assert report.split_keys == []
    assert report.stuck_keys == []
    assert report.kills > 0


def test_a_cancellation_and_a_payment_never_both_win(database_url: str, tmp_path: Path) -> None:
    races = run_cancel_races(database_url, tmp_path, races=25, seed=1)
    assert [race for race in races if not race.consistent] == []
