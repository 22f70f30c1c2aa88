"""Messages of the real worker reach the measured receivers. Without load."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.load.checkout import HERE
from benchmarks.webhooks.__main__ import PEER, Run
from benchmarks.webhooks.measures import Latency
from benchmarks.webhooks.processes import NotAllArrived, Receivers, running_receivers
from benchmarks.webhooks.report import Line, goal, table

RECEIVERS, EVENTS = 5, 6


@pytest.fixture
def receivers(tmp_path: Path) -> Iterator[Receivers]:
    with running_receivers(RECEIVERS, tmp_path) as receivers:
        yield receivers


def test_each_sender_reaches_all_receivers_and_reports_failing_ones(
    receivers: Receivers, tmp_path: Path
) -> None:
    arguments = Namespace(
        receivers=RECEIVERS, events=EVENTS, rate=20.0, seconds=0.5, bad_seconds=0.5, no_peer=False
    )
    run = Run(arguments, tmp_path, receivers)
    run.measure([HERE], "SQLite", lambda name: f"sqlite:///{tmp_path / name}.db")
    assert [(line.sender, line.receivers[:1]) for line in run.lines] == [
        (PEER, "1"),
        ("specd, SQLite", "1"),
        (PEER, "5"),
        ("specd, SQLite", "5"),
        ("specd, SQLite", "5"),
    ]
    assert all(line.burst.events == EVENTS for line in run.lines if line.burst)
    taken = [line.latency.events for line in run.lines if line.latency]
    assert taken == [10, 10, 4], "six of the last ten were for failing receivers"
    assert table(run.lines).count("\n") == 6
    with pytest.raises(NotAllArrived, match="0 of 1 "):
        receivers.wait(1, seconds=0)


def test_goal_applies_to_the_worst_value() -> None:
    lines = [
        Line("a", "5", latency=Latency(9, 100.0, 10.0, p99, p99), is_judged=True)
        for p99 in (900.0, 1100.0)
    ]
    assert goal(lines, receivers=5, bound_ms=1200, per_second=100)[1]
    line, is_reached = goal(lines, receivers=5, bound_ms=1000, per_second=100)
    assert not is_reached
    assert "1,100 ms" in line
    line, is_reached = goal(lines, receivers=5, bound_ms=1200, per_second=200)
    assert not is_reached
    assert "came too slowly" in line
