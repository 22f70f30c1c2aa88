"""Exports an organization, and imports its archive into a database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from adapters.file_store.directory import DirectoryStore
from adapters.file_store.store import FileStore
from adapters.file_store.wiring import build_file_store
from models.chat.imports.rows import TABLES
from models.chat.moves.capture import FOLLOWED
from models.chat.tables import Realm, User
from models.row_numbers import reserve
from specd.db import Database
from tests.support.chat.app import ChatApp
from tests.support.chat.people import KEYS, VAULT, Member
from tests.support.databases import Lent
from tests.support.frozen_clock import FrozenClock
from workers.exports import Exports
from workers.imports import Imported, Imports
from workers.moves import Moves, Place
from workers.zulip_imports import NO_PASSWORDS, Loss, converted


@dataclass(frozen=True, slots=True)
class Installation:
    """A database with a file store, and a folder for archives."""

    database: Database
    clock: FrozenClock
    folder: Path
    store: FileStore | None = None
    """The store of uploaded files; by default in the folder."""

    @property
    def files(self) -> FileStore:
        return self.store or DirectoryStore(self.folder / "files")

    @property
    def imports(self) -> Imports:
        arriving = self.folder / "arriving"
        return Imports(
            self.database, self.clock, self.files, arriving, keys=KEYS, vault=VAULT
        )  # fmt: skip

    def export(self, realm_id: int, export_type: str = "full_without_consent") -> Path:
        maker = Exports(
            self.database, self.clock, self.folder / "exports", self.files,
            public_url="http://127.0.0.1", retention=timedelta(days=30),
            stopping=threading.Event(),
        )  # fmt: skip
        run, written = maker.export_now(realm_id, export_type)
        assert written is not None
        return self.folder / "exports" / run.archive

    def bring(
        self, archive: Path, host: str = "acme.example", *, sends_overdue: bool = False
    ) -> Imported:
        return self.imports.run(archive, host=host, sends_overdue=sends_overdue)

    def moves_from(
        self, other: Installation, *, must_keep_ids: bool = False,
        rest: Callable[[float], object] = lambda seconds: None,
    ) -> Moves:  # fmt: skip
        """Return the moves of organizations from another installation to this one."""
        return Moves(
            Place(other.database, other.files), Place(self.database, self.files), self.imports,
            self.clock, self.folder / "moves", rest=rest,
            must_keep_ids=must_keep_ids,
        )  # fmt: skip

    def bring_zulip(
        self,
        tarball: Path,
        host: str,
        *,
        zulip_host: str | None = None,
        passwords: Mapping[str, str] = NO_PASSWORDS,
    ) -> tuple[Imported, list[Loss]]:
        """Convert and import an export of Zulip."""
        with converted(
            tarball,
            self.folder / "conversions",
            host=host,
            zulip_host=zulip_host,
            passwords=passwords,
        ) as made:
            imported = self.imports.run(
                made.archive, host=host, password_hashes=made.password_hashes
            )  # fmt: skip
            return imported, made.losses


def store_of(app: ChatApp) -> FileStore:
    """Return the store of the application's uploaded files."""
    return build_file_store(app.settings)


@contextmanager
def another_installation(
    request: pytest.FixtureRequest, folder: Path, kind: str, *, is_empty: bool = False
) -> Iterator[Installation]:
    """Yield another installation on a kind of database, with other organizations unless it is
    empty. All its ids are different.
    """
    lent: Lent = request.getfixturevalue("lent")
    if kind == "sqlite":
        template, _ = request.getfixturevalue("chat_sqlite_template")
        copy = request.getfixturevalue("places").one(template)
    else:
        copies, _ = request.getfixturevalue("chat_postgres_copies")
        copy = copies.one()
    with copy as url, lent.one(url, request.getfixturevalue("patience_s")) as database:
        empty(database) if is_empty else occupy(database)
        yield Installation(database, request.getfixturevalue("clock"), folder)


def empty(database: Database) -> None:
    """Remove all organizations and reset the ids."""
    names = [f'"{table.name}"' for table in FOLLOWED]

    def work(session: Session) -> None:
        connection = session.connection()
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"TRUNCATE {', '.join(names)} RESTART IDENTITY CASCADE")
            return
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        for name in reversed(names):
            connection.exec_driver_sql(f"DELETE FROM {name}")
        connection.exec_driver_sql("DELETE FROM sqlite_sequence")

    database.run(work)


def occupy(database: Database) -> None:
    """Use up a number of ids in each table, and change the host of Acme."""

    def work(session: Session) -> None:
        for number, table in enumerate(TABLES):
            if "id" in table.c:
                reserve(session, table, 1000 + 17 * number)
        session.execute(
            update(Realm).where(Realm.host == "acme.example").values(host="old.example")
        )

    database.run(work)


def member_at(database: Database, host: str, member: Member) -> Member:
    """Return the member as in the organization at a host, with the key there."""
    return replace(person_at(database, host, member.email), name=member.name, role=member.role)


def person_at(database: Database, host: str, email: str) -> Member:
    """Return the user with an address in the organization at a host, with the key there."""
    with database.reading() as reader:
        row = reader.execute(
            select(User.id, User.full_name, User.role, User.api_key_nonce, User.api_key_sha256)
            .join(Realm, Realm.id == User.realm_id)
            .where(User.delivery_email == email, Realm.host == host)
        ).one()
    key = KEYS.find_key(row.api_key_nonce, row.api_key_sha256)
    assert key is not None
    return Member(row.id, email, row.full_name, row.role, key, host)
