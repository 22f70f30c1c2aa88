"""A part of the export campaign; `scripts/export` runs it at full size."""

from __future__ import annotations

import random
import time
from pathlib import Path

from sqlalchemy import insert
from sqlalchemy.orm import Session

from models.chat.exports.requests import add_export
from models.chat.tables import Message
from specd.db import Database
from tests.live.exports import CLOCK, end_leases, judge, working
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

MESSAGES, KILLS = 3000, 3


def test_an_export_survives_its_workers(chat_filled: tuple[str, Cast], tmp_path: Path) -> None:
    url, cast = chat_filled
    database, folder = Database(url), tmp_path / "exports"

    def work(session: Session) -> int:
        channel_id = make_channel(session, cast, "open")
        row = {
            "realm_id": cast.realm_id, "sender_id": cast.hamlet.id, "channel_id": channel_id,
            "topic": "news", "topic_key": "news", "content": "x" * 200,
            "rendered_content": "x" * 200, "sent_at": CLOCK.now(),
        }  # fmt: skip
        session.execute(insert(Message), [row] * MESSAGES)
        return add_export(
            session, cast.realm_id, cast.iago.id, "full_without_consent", now=CLOCK.now()
        )

    export_id = database.run(work)
    chance, wrong = random.Random(1), list[str]()
    for _ in range(KILLS):
        with working(url, folder) as worker:
            worker.join(chance.uniform(0.05, 0.4))
        judge(database, folder, export_id, wrong)
        database.run(end_leases)
    deadline = time.monotonic() + 60
    with working(url, folder):
        while not judge(database, folder, export_id, wrong) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert judge(database, folder, export_id, wrong)
    assert wrong == []
    database.dispose()
