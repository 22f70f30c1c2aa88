"""A part of the storm of webhooks; `scripts/webhook-storm` runs it at full size."""

from __future__ import annotations

from tests.live.webhook_storm import run_storm


def test_nothing_is_lost_and_the_order_is_kept_while_workers_die(database_url: str) -> None:
    report = run_storm(
        database_url, transitions=80, workers=3, kill_every_s=0.2, followers=3, seed=1,
        kill_for_s=5,
    )  # fmt: skip
    assert (report.lost, report.disordered, report.misread) == (0, 0, 0)
    assert report.events == 80
    assert report.kills > 0
