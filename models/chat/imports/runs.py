"""Store an import: begin, resume, finish or remove it, one unit of work at a time.

Until it is finished, the organization has a host that no request can name, so no user can reach it.
Each unit of work saves the progress together with its rows, so that a killed import resumes where
it stopped.
"""

import secrets
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

import orjson
from sqlalchemy import (
    ColumnElement,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.orm import Session

from models import row_numbers
from models.chat.common import audit
from models.chat.common.hosts import check_host
from models.chat.exports.scope import Scope
from models.chat.imports.completing import NEVER, hidden_host, stars_apart
from models.chat.imports.errors import IdsInUse, NoSuchImport, UnfinishedImport
from models.chat.imports.kept import all_parts_of
from models.chat.imports.steps import DISCARDED, Removal
from models.chat.imports.target import Row
from models.chat.messages.search import index_new_messages, remove_messages
from models.chat.organization.errors import HostInUse
from models.chat.rendering import plain_text
from models.chat.scheduling.records import PENDING
from models.chat.tables import (
    Attachment,
    ChatImport,
    Message,
    MovedRow,
    Realm,
    RealmEmoji,
    ScheduledMessage,
    StarredMessage,
    Topic,
    User,
    UserMessage,
)
from models.dialects import dialect_of, id_in, insert_all
from specd.db import Db, table_of

IMPORTS = table_of(ChatImport)
_REALM, _SCHEDULED, _MESSAGE = (
    table_of(Realm), table_of(ScheduledMessage), table_of(Message),
)  # fmt: skip
_COPY, _STAR, _TOPIC = table_of(UserMessage), table_of(StarredMessage), table_of(Topic)
_ATTACHMENT, _EMOJI, _USER = table_of(Attachment), table_of(RealmEmoji), table_of(User)
_MOVED = table_of(MovedRow)
LOOKED_FOR_AT_ONCE, READ_AT_ONCE = 5000, 10_000
"""Maximum number of ids in one query, and of rows fetched together."""


class ImportTaken(Exception):
    """Another process is running the same import."""


@dataclass(frozen=True, slots=True)
class Import:
    """A row of `ChatImport`."""

    id: int
    realm_id: int
    host: str
    archive_sha256: str
    salt: str
    first_ids: Mapping[str, int]
    counts: Mapping[str, int]
    step: int
    done: int
    finished_at: datetime | None

    @property
    def keeps_ids(self) -> bool:
        """Whether the rows keep the ids that they had at the source."""
        return not self.first_ids


def find_import(db: Db, host: str) -> Import | None:
    """Return the newest import at a host, finished or not."""
    newest = select(IMPORTS).where(IMPORTS.c.host == host).order_by(IMPORTS.c.id.desc()).limit(1)
    row = db.execute(newest).first()
    if row is None:
        return None
    return Import(
        row.id, row.realm_id, row.host, row.archive_sha256, row.salt,
        orjson.loads(row.first_ids), orjson.loads(row.counts), row.step, row.done, row.finished_at,
    )  # fmt: skip


def access_import(db: Db, host: str, archive_sha256: str) -> Import | None:
    """Return the import of this archive at a host, finished or not, or None if it can begin.

    Raise `InvalidHost`, `HostInUse`, `UnfinishedImport`.
    """
    host = check_host(host)
    found = find_import(db, host)
    if found is not None and found.finished_at is None:
        if found.archive_sha256 != archive_sha256 or found.step == DISCARDED:
            raise UnfinishedImport(host=host)
        return found
    if db.execute(select(_REALM.c.id).where(_REALM.c.host == host)).first() is None:
        return None
    if found is None or found.archive_sha256 != archive_sha256:
        raise HostInUse(host=host)
    return found


def access_unfinished(db: Db, host: str) -> Import:
    """Return the unfinished import at a host. Raise `NoSuchImport`."""
    found = find_import(db, check_host(host))
    if found is None or found.finished_at is not None:
        raise NoSuchImport(host=host)
    return found


def make_salt() -> str:
    return secrets.token_hex(16)


def are_free(db: Db, table: Table, ids: Sequence[int]) -> bool:
    """Return whether none of the ids is in use in a table."""
    for start in range(0, len(ids), LOOKED_FOR_AT_ONCE):
        some = ids[start : start + LOOKED_FOR_AT_ONCE]
        taken = select(table.c.id).where(id_in(table.c.id, some)).limit(1)
        if db.execute(taken).first() is not None:
            return False
    return True


def find_newest(db: Db) -> int:
    """Return the id of the newest import, or 0 if there is none. Raise `IdsInUse` if an import is
    unfinished, because it has reserved ids of rows that it has not added yet.
    """
    unfinished = select(IMPORTS.c.host).where(IMPORTS.c.finished_at.is_(None)).limit(1)
    host = db.execute(unfinished).scalar()
    if host is not None:
        raise IdsInUse(reason=f"another one is on its way to {host}")
    newest: int = db.execute(select(func.coalesce(func.max(IMPORTS.c.id), 0))).scalar_one()
    return newest


def begin(
    session: Session,
    realm: Row,
    *,
    host: str,
    archive_sha256: str,
    salt: str,
    first_ids: Mapping[str, int],
    counts: Mapping[str, int],
    newest: int = 0,
    now: datetime,
) -> Import:
    """Create the hidden organization, without content. If `first_ids` is empty, the rows keep their
    ids, which were unused when `newest` was the newest import.

    Raise `IdsInUse` or an error of `access_import`.
    """
    if not first_ids:
        row_numbers.lock(session, IMPORTS)
        if find_newest(session) != newest:
            raise IdsInUse(reason="another one has come meanwhile")
    if access_import(session, host, archive_sha256) is not None:
        raise ImportTaken()
    connection = session.connection()
    connection.execute(insert(_REALM).values(realm))
    values = {
        "realm_id": realm["id"],
        "host": check_host(host),
        "archive_sha256": archive_sha256,
        "salt": salt,
        "first_ids": orjson.dumps(dict(first_ids)).decode(),
        "counts": orjson.dumps(dict(counts)).decode(),
        "step": 0,
        "done": 0,
        "started_at": now,
    }
    connection.execute(insert(IMPORTS).values(values))
    found = find_import(session, check_host(host))
    assert found is not None
    return found


def prepare(session: Session) -> None:
    """Configure the connection of a unit of work for many rows.

    SQLite caches 16 MiB of pages and merges the same amount of its log into the file at a time.
    With less memory, rows that are not in the order of an index would read and write the same pages
    repeatedly.
    """
    if dialect_of(session) == "sqlite":
        for pragma in ("PRAGMA cache_size = -16384", "PRAGMA wal_autocheckpoint = 4096"):
            session.connection().exec_driver_sql(pragma).close()


def advance(session: Session, run: Import, *, step: int, done: int) -> None:
    """Save the progress, if it has not changed since `run` was read. Raise `ImportTaken`."""
    moved = update(IMPORTS).where(
        IMPORTS.c.id == run.id,
        IMPORTS.c.step == run.step,
        IMPORTS.c.done == run.done,
        IMPORTS.c.finished_at.is_(None),
    )
    if session.connection().execute(moved.values(step=step, done=done)).rowcount != 1:
        raise ImportTaken()


def write_rows(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Add rows of one table, with the stars and the search index that belong to them."""
    if table is _COPY:
        rows, stars = stars_apart(rows)
        if stars:
            insert_all(session, _STAR, stars)
        # An archive sorts them by user, so that their entries in the index by message would be
        # scattered.
        rows = sorted(rows, key=itemgetter("message_id"))
    insert_all(session, table, rows)
    if table is _MESSAGE:
        index_new_messages(
            session,
            [(row["id"], row["topic"], plain_text(row["rendered_content"])) for row in rows],
        )


def write_references(session: Session, table: Table, rows: Sequence[Row]) -> None:
    """Set the references of rows to rows of the same table. Each row has its id as `id_`."""
    changed = update(table).where(table.c.id == bindparam("id_"))
    session.connection().execute(changed, rows)


def write_topics(session: Session, channel_id: int) -> None:
    """Add the topics of a channel from its messages."""
    newest = (
        select(func.max(_MESSAGE.c.id).label("id"))
        .where(_MESSAGE.c.channel_id == channel_id)
        .group_by(_MESSAGE.c.topic_key)
        .subquery()
    )
    rows = select(
        _MESSAGE.c.channel_id, _MESSAGE.c.topic_key, _MESSAGE.c.topic, _MESSAGE.c.id
    ).join(newest, newest.c.id == _MESSAGE.c.id)
    names = ["channel_id", "topic_key", "name", "max_id"]
    session.connection().execute(insert(_TOPIC).from_select(names, rows))


def count_rows(db: Db, table: Table, scope: Scope) -> int:
    """Return the number of the organization's rows in a table."""
    part = all_parts_of(table)[0]
    count = part.count(scope)
    if part.through is not None:
        # Finding the organization by user is faster than by message.
        owners = [table.c[name] for name in ("user_id", "sender_id") if name in table.c]
        for owner in owners:
            count = select(func.count()).select_from(table).where(scope.is_user(owner))
    counted: int = db.execute(count).scalar_one()
    return counted


def finish(
    session: Session,
    run: Import,
    *,
    released: Mapping[str, Sequence[Row]],
    sends_overdue: bool,
    goes_on: bool = False,
    now: datetime,
) -> None:
    """Show the organization.

    `released` contains the original values of held columns, by table; each row has its id as `id_`.
    If `goes_on`, scheduled messages keep their times, even those that are due. Raise `ImportTaken`,
    `HostInUse`.
    """
    if session.execute(select(_REALM.c.id).where(_REALM.c.host == run.host)).first() is not None:
        raise HostInUse(host=run.host)
    connection = session.connection()
    moved = update(IMPORTS).where(
        IMPORTS.c.id == run.id, IMPORTS.c.step == run.step, IMPORTS.c.finished_at.is_(None)
    )
    if connection.execute(moved.values(finished_at=now)).rowcount != 1:
        raise ImportTaken()
    for name, rows in released.items():
        if rows:
            write_references(session, IMPORTS.metadata.tables[name], rows)
    shown = update(_REALM).where(_REALM.c.id == run.realm_id)
    connection.execute(shown.values(host=run.host))
    is_mine = _SCHEDULED.c.realm_id == run.realm_id
    planned = update(_SCHEDULED).where(is_mine)
    if not goes_on:
        is_late = _SCHEDULED.c.scheduled_at <= now
        planned = planned.where(~((_SCHEDULED.c.state == PENDING) & is_late))
    connection.execute(planned.values(next_try_at=_SCHEDULED.c.scheduled_at))
    if sends_overdue:
        send_overdue(session, run, now=now)
    facts = {"host": run.host, "archive_sha256": run.archive_sha256}
    audit.record(session, run.realm_id, "realm_imported", facts=facts, now=now)


def send_overdue(session: Session, run: Import, *, now: datetime) -> int:
    """Schedule the messages that were due before the import ended. Return their number."""
    waiting = update(_SCHEDULED).where(*_overdue(run))
    return session.connection().execute(waiting.values(scheduled_at=now, next_try_at=now)).rowcount


def count_overdue(db: Db, run: Import) -> int:
    """Return the number of scheduled messages that wait until the operator releases them."""
    return db.execute(select(func.count()).where(*_overdue(run))).scalar_one()


def _overdue(run: Import) -> tuple[ColumnElement[bool], ...]:
    return (
        _SCHEDULED.c.realm_id == run.realm_id,
        _SCHEDULED.c.state == PENDING,
        _SCHEDULED.c.next_try_at == NEVER,
    )


# --- rows that a move adds later ------------------------------------------------------------------


def add_moved(session: Session, run: Import, table: Table, new_ids: Mapping[int, int]) -> None:
    """Store the new ids of rows, as old id -> new id."""
    rows = [
        {"import_id": run.id, "table_name": table.name, "old_id": old, "new_id": new}
        for old, new in new_ids.items()
    ]
    insert_all(session, _MOVED, rows)


def find_moved(db: Db, run: Import) -> dict[str, dict[int, int]]:
    """Return table -> old id -> new id for the rows that were added later."""
    found: dict[str, dict[int, int]] = {}
    rows = select(_MOVED.c.table_name, _MOVED.c.old_id, _MOVED.c.new_id)
    for name, old, new in db.execute(rows.where(_MOVED.c.import_id == run.id)):
        found.setdefault(name, {})[old] = new
    return found


def forget_moved(session: Session, run: Import) -> None:
    """Delete the ids of rows that were added later."""
    session.connection().execute(delete(_MOVED).where(_MOVED.c.import_id == run.id))


# --- removal --------------------------------------------------------------------------------------


def begin_removal(session: Session, run: Import) -> None:
    """Mark the import, so that it cannot be resumed. Raise `NoSuchImport` if it is finished."""
    marked = update(IMPORTS).where(IMPORTS.c.id == run.id, IMPORTS.c.finished_at.is_(None))
    if session.connection().execute(marked.values(step=DISCARDED)).rowcount != 1:
        raise NoSuchImport(host=run.host)


def find_ids(db: Db, run: Import, table: Table) -> Sequence[int]:
    """Return the ids of the organization's rows of a table, ascending."""
    if table is _REALM:
        return [run.realm_id]
    theirs = select(table.c.id).where(table.c.realm_id == run.realm_id).order_by(table.c.id)
    return array("q", db.execute(theirs.execution_options(yield_per=READ_AT_ONCE)).scalars())


def find_handles(
    db: Db, run: Import, *, after: tuple[str, int], limit: int
) -> list[tuple[str, int, str]]:
    """Return (table, id, handle) of up to `limit` files with rows, after a table and an id."""
    found: list[tuple[str, int, str]] = []
    for handle in (_ATTACHMENT.c.handle, _EMOJI.c.handle, _USER.c.avatar_handle):
        table = handle.table
        if (table.name, 0) < (after[0], 0):
            continue
        least = after[1] if table.name == after[0] else 0
        query = select(table.c.id, handle).where(
            table.c.realm_id == run.realm_id, handle.is_not(None), table.c.id > least
        )
        rows = db.execute(query.order_by(table.c.id).limit(limit - len(found))).all()
        found += [(table.name, *row) for row in rows]
        if len(found) == limit:
            break
    return found


def remove_rows(session: Session, removal: Removal, links: Iterable[str]) -> None:
    """Remove rows. `links` are columns that refer to rows of the same table."""
    connection, ids = session.connection(), list(removal.ids)
    for name in links:
        referring = id_in(removal.table.c[name], ids)
        connection.execute(update(removal.table).where(referring).values({name: None}))
    if removal.table is _MESSAGE:
        remove_messages(session, ids)
    connection.execute(delete(removal.table).where(id_in(removal.column, ids)))


def end_removal(session: Session, run: Import) -> None:
    """Remove the row of the hidden organization, after all other rows."""
    connection = session.connection()
    forget_moved(session, run)
    connection.execute(delete(IMPORTS).where(IMPORTS.c.id == run.id))
    connection.execute(
        delete(_REALM).where(_REALM.c.id == run.realm_id, _REALM.c.host == hidden_host(run.host))
    )
