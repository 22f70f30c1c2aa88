"""The cost of a block is measured on a chain, and growth of the cost is reported."""

from pathlib import Path

from benchmarks.load.checkout import HERE
from benchmarks.watcher.__main__ import Cost, compared, growth, measure, table
from tests.live.chain_fixture import running_anvil


def test_block_is_read_and_its_cost_counted(tmp_path: Path) -> None:
    with running_anvil() as chain:
        costs = {
            count: measure(
                HERE, f"sqlite:///{tmp_path}/{count}.db", chain.url, count, blocks=2, strangers=3
            )
            for count in (5, 600)
        }
    for cost in costs.values():
        assert cost.cpu_ms > 0
        assert cost.statements > 5
        assert cost.questions >= 2
    assert table("SQLite", costs).count("\n") == 3
    assert compared("SQLite", costs, costs).count("| 1.00 |") == 6


def test_growth_compares_the_fewest_with_the_most() -> None:
    costs = {count: Cost(cpu_ms, 30.0, 20, 7) for count, cpu_ms in ((1000, 10.0), (9000, 15.0))}
    assert growth(costs) == 1.5
