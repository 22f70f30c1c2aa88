"""Samples of the fuzz campaigns of `scripts/fuzz`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from specd._db import migrate
from tests.contract.fuzz.campaign import exceptions, run_schemathesis
from tests.contract.fuzz.chat_stage import fuzzed_chat
from tests.contract.fuzz.payment_stage import fuzzed_payment


def check_clean(report: subprocess.CompletedProcess[str], directory: Path) -> None:
    assert report.returncode == 0, report.stdout[-6000:]
    assert " passed" in report.stdout
    assert exceptions(directory) == []


def test_finds_nothing_in_payment(sqlite_url: str, tmp_path: Path) -> None:
    with fuzzed_payment(sqlite_url, tmp_path) as (server, users):
        report = run_schemathesis("payment", server, users, seconds=3, seed=1)
    check_clean(report, tmp_path)


def test_finds_nothing_in_chat(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/chat.db"
    migrate.upgrade(url, "chat")
    with fuzzed_chat(url, tmp_path) as (server, users):
        report = run_schemathesis("chat", server, users, seconds=3, seed=1)
    check_clean(report, tmp_path)
