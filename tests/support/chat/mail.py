"""Mail that the chat service has queued."""

import re

from sqlalchemy import select

from models.chat.common import outbox
from models.chat.tables import Outbox
from specd.db import Database
from tests.support.chat.people import VAULT


def mails(database: Database) -> list[tuple[str, str, str]]:
    """Return (to, subject, text) of all queued mail."""
    with database.reading() as reader:
        rows = reader.execute(select(*outbox.OUTBOX.c).order_by(Outbox.id)).all()
    return [
        (
            row.recipient,
            row.subject,
            (VAULT.open(row.body, purpose=f"mail:{row.key}") or "") if row.is_sealed else row.body,
        )
        for row in rows
    ]


def token_of(database: Database) -> str:
    """Return the token of the link in the last mail."""
    found = re.search(
        r"http://acme\.example/api/v1/accounts/(?:confirm_new_email|join)/(\S+)",
        mails(database)[-1][2],
    )
    assert found
    return found[1]
