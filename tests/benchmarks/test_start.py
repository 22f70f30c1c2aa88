"""Starts of whole commands are measured, and medians are reported."""

from pathlib import Path

from benchmarks.load.checkout import HERE
from benchmarks.start.__main__ import table
from benchmarks.start.measures import Deployment


def test_server_is_measured_from_start_to_end(tmp_path: Path) -> None:
    deployed = Deployment(HERE, tmp_path / "checkout")
    help_, server = deployed.run(["--help"]), deployed.serve("payment")
    assert 0 < help_["cpu_s"] < server["cpu_s"]
    assert 0 < server["worker_pss"] < server["worker_rss"]
    assert server["master_rss"] > 20


def test_median_of_the_rounds_is_reported() -> None:
    rounds = [{"wall_s": 3.0, "cpu_s": 1.0}, {"wall_s": 1.0}, {"wall_s": 2.0, "cpu_s": 2.0}]
    assert table("new", {"specd --help": rounds}).splitlines()[-1] == (
        "| specd --help | 2.00 | 1.50 |  |  |  |  |  |"
    )
