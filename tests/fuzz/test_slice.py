"""A slice of the fuzz campaign: `scripts/fuzz` is the whole of it."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.campaign import fuzzed_server, run_schemathesis


def test_finds_nothing_in_half_a_minute(sqlite_url: str, tmp_path: Path) -> None:
    with fuzzed_server(sqlite_url, tmp_path) as (server, users):
        report = run_schemathesis(server, users, seconds=30, seed=1)
    assert report.returncode == 0, report.stdout[-6000:]
    assert "No issues found" in report.stdout
    assert '"exception"' not in server.log.read_text()
