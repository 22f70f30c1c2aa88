"""Each activity of chat users and shops has a measured cost. Without load."""

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from benchmarks.capacity import __main__ as capacity
from benchmarks.capacity.__main__ import INVOICE_LIFE, PERSON_HOUR


@pytest.mark.usefixtures("few_people", "postgres")
def test_each_activity_has_a_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "capacity.json"
    options = ["--seconds", "0.2", "--messages", "11000", "--invoices", "100", "--out", str(out)]
    monkeypatch.setattr("sys.argv", ["benchmarks.capacity", *options])
    with patch("specd._logs.configure"):
        assert capacity.main() == 0
    output = capsys.readouterr().out
    assert "1,000 people" in output
    assert "100,000 invoices an hour" in output
    found = json.loads(out.read_text())
    assert found["costs"]["chat"].keys() == PERSON_HOUR.keys()
    assert found["costs"]["payment"].keys() == INVOICE_LIFE.keys()
    for costs in found["costs"].values():
        # On a busy machine, a tick of the processor clock can exceed a short measurement.
        assert all(cost["server_ms"] >= 0 for cost in costs.values())
        assert sum(cost["server_ms"] for cost in costs.values()) > 0
