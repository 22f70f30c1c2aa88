"""A part of the deletion of a large topic; `scripts/topic-deletion` runs it at full size."""

from __future__ import annotations

from pathlib import Path

from tests.live.topic_deletion import run_deletion
from tests.support.chat.people import Cast

MESSAGES = 1500


def test_a_topic_goes_wholly_while_workers_and_servers_die(
    chat_filled: tuple[str, Cast], tmp_path: Path
) -> None:
    url, cast = chat_filled
    report = run_deletion(url, cast, tmp_path, messages=MESSAGES, idle_s=0.3, kill_every_s=0.4)
    assert (report.torn, report.wrong) == ([], [])
    assert report.kills > 0
