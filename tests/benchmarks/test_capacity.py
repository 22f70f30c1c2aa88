"""Each thing that people and shops do has a cost. No load here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.capacity.__main__ import INVOICE_LIFE, PERSON_HOUR
from tests.live.running_server import ROOT


@pytest.mark.usefixtures("postgres")
def test_each_thing_costs_something(tmp_path: Path) -> None:
    out = tmp_path / "capacity.json"
    options = ["--seconds", "0.3", "--messages", "11000", "--invoices", "500", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.capacity", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1,000 people" in done.stdout
    assert "100,000 invoices an hour" in done.stdout
    found = json.loads(out.read_text())
    assert found["costs"]["chat"].keys() == PERSON_HOUR.keys()
    assert found["costs"]["payment"].keys() == INVOICE_LIFE.keys()
    for costs in found["costs"].values():
        for name, cost in costs.items():
            assert cost["server_ms"] > 0, name
