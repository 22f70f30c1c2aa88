"""A part of the fire campaign; `scripts/fire` runs it at full size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.fire import run_cancel_races, run_storm
from tests.support.marks import in_all


@pytest.mark.parametrize("keys", [20, in_all(40)])
def test_one_invoice_per_key_while_workers_die(
    database_url: str, tmp_path: Path, keys: int
) -> None:
    report = run_storm(database_url, tmp_path, keys=keys, copies=8, kill_every_s=0.25, seed=1)
    assert report.invoices == keys
    assert report.split_keys == []
    assert report.stuck_keys == []
    assert report.kills > 0


@pytest.mark.parametrize("races", [15, in_all(25)])
def test_a_cancellation_and_a_payment_never_both_win(
    database_url: str, tmp_path: Path, races: int
) -> None:
    ended = run_cancel_races(database_url, tmp_path, races=races, seed=1)
    assert [race for race in ended if not race.consistent] == []
