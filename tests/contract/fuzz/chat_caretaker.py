"""Restores data that a fuzzer removes, in the database, like an operator.

An owner can remove their own permissions, replace their API key, disable features of the
organization, withdraw consents and exhaust limits, and schemathesis does all of this. This way, no
operation has to be excluded.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from sqlalchemy import Table, insert, or_, select, update
from sqlalchemy.orm import Session

from models.chat.tables import DataExport, EmailChange, Realm, User, VendorToken
from specd.db import Database

CARE_EVERY_S = 0.2
SETTINGS_EVERY = 10
"""Settings of the organization are restored once in this many rounds."""

KEPT = (User.role, User.is_active, User.api_key_nonce, User.api_key_sha256)
"""Columns of a user that a fuzzer can change: permissions, activation and API key."""

REALM, VENDOR_TOKEN = Realm.__table__, VendorToken.__table__
assert isinstance(REALM, Table)
assert isinstance(VENDOR_TOKEN, Table)


class Caretaker:
    """The state at the beginning of the fuzzing."""

    def __init__(self, database: Database, user_ids: list[int], email_token: str) -> None:
        self._database = database
        self._token_sha256 = hashlib.sha256(email_token.encode()).hexdigest()
        with database.reading() as connection:
            users = select(User.id, *KEPT).where(User.id.in_(user_ids))
            self._users = {
                row["id"]: {column.key: row[column.key] for column in KEPT}
                for row in connection.execute(users).mappings()
            }
            self._realm = dict(connection.execute(select(REALM)).mappings().one())
            tokens = connection.execute(select(VENDOR_TOKEN)).mappings()
            self._vendor_tokens = {row["user_id"]: dict(row) for row in tokens}

    def care(self, *, settings_too: bool) -> None:
        """Restore removed data, in one unit of work."""
        self._database.run(lambda session: self._restore(session, settings_too))

    def _restore(self, session: Session, settings_too: bool) -> None:
        for user_id, kept in self._users.items():
            lost = or_(*(column != kept[column.key] for column in KEPT))
            session.execute(update(User).where(User.id == user_id, lost).values(kept))
        if not settings_too:
            return
        session.execute(update(REALM).where(REALM.c.id == self._realm["id"]).values(self._realm))
        held = set(session.execute(select(VENDOR_TOKEN.c.user_id)).scalars())
        for user_id, row in self._vendor_tokens.items():
            if user_id not in held:
                session.execute(insert(VENDOR_TOKEN).values(row))
        now = datetime.now(UTC)
        session.execute(  # only a few can be requested in a week
            update(DataExport)
            .where(DataExport.requested_at > now - timedelta(days=7))
            .where(DataExport.state.not_in(("requested", "started")))
            .values(requested_at=now - timedelta(days=30))
        )
        asked = select(EmailChange.id).where(EmailChange.token_sha256 == self._token_sha256)
        if session.execute(asked).first() is None:
            session.add(
                EmailChange(
                    user_id=max(self._users),
                    new_email=f"moved{int(now.timestamp())}@fuzz.example",
                    token_sha256=self._token_sha256,
                    created_at=now,
                    expires_at=now + timedelta(days=1),
                )
            )


@contextmanager
def cared_for(database_url: str, user_ids: list[int], email_token: str) -> Iterator[None]:
    """Keep these users and their organization in their present state."""
    database = Database(database_url)
    caretaker = Caretaker(database, user_ids, email_token)
    caretaker.care(settings_too=True)
    stopped = threading.Event()

    def care() -> None:
        rounds = 0
        while not stopped.wait(CARE_EVERY_S):
            rounds += 1
            caretaker.care(settings_too=rounds % SETTINGS_EVERY == 0)

    thread = threading.Thread(target=care, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        database.dispose()
