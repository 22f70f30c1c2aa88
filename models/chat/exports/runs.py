"""The worker's part of exports: claim an export, report its progress, and end it.

A worker claims an export by a lease, which each report renews. A worker that has lost its lease
(`LeaseLost`) discards its file. If the process is killed, the export is still `requested` or
`started` and the next worker starts it again, or it is `succeeded` with a complete file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.exports.requests import (
    EXPORTS,
    FAILED,
    REQUESTED,
    STARTED,
    SUCCEEDED,
    forget_archive,
    notify_exports,
)
from models.chat.identity.actors import is_running
from models.chat.sending.notices import try_send_notice
from models.chat.sending.recipients import ToUsers
from models.chat.tables import Realm
from specd.db import Db, WorkQueue, table_of

LEASE = timedelta(seconds=60)
ATTEMPTS_MAX = 5
GAVE_UP = "No attempt came to an end"
DONE = (
    "Your data export is complete. [View and download exports](/docs/chat#/exports/list_exports)."
)
NOT_DONE = "Your data export has failed. Nothing was exported; ask for another one."

_REALM = table_of(Realm)
QUEUE = WorkQueue(EXPORTS, REQUESTED, STARTED, pauses=[timedelta(seconds=30)] * (ATTEMPTS_MAX - 1))
_DUE = QUEUE.due(select(*EXPORTS.c).where(is_running(EXPORTS.c.realm_id))).limit(1)


class LeaseLost(Exception):
    """Another worker has claimed this export or ended it."""


@dataclass(frozen=True, slots=True)
class Run:
    """An export that a worker has claimed until the lease ends; `holder` names the attempt."""

    id: int
    realm_id: int
    realm_host: str
    acting_user_id: int | None
    export_type: str
    requested_at: datetime
    attempts: int
    holder: str

    @property
    def archive(self) -> str:
        """The name of the file, which is unique to this attempt."""
        return f"{self.id}-{self.holder}.zip"


@dataclass(frozen=True, slots=True)
class Written:
    """A complete archive in the folder. `bytes` is its size."""

    bytes: int
    sha256: str
    rows: int


def take_due(
    session: Session, holder: str, *, base_of: Callable[[Run], str], now: datetime
) -> tuple[bool, Run | None]:
    """Return whether an export was due, and the claimed export. An export with too many attempts
    fails instead.
    """
    row = session.connection().execute(_DUE, {"at": now}).first()
    if row is None:
        return False, None
    run = take(session, row.id, holder, now=now)
    if QUEUE.is_exhausted(row):
        fail(session, run, row.failure or GAVE_UP, base=base_of(run), now=now)
        return True, None
    return True, run


def take(session: Session, export_id: int, holder: str, *, now: datetime) -> Run:
    """Claim an export from any worker. The caller has locked its row."""
    values = {"state": STARTED, "holder": holder, "rows_done": 0, "rows_total": 0}
    QUEUE.claim(session, [export_id], until=now + LEASE, **values)
    row = session.execute(
        select(*EXPORTS.c, _REALM.c.host.label("realm_host"))
        .join(_REALM, _REALM.c.id == EXPORTS.c.realm_id)
        .where(EXPORTS.c.id == export_id)
    ).one()
    return Run(
        row.id, row.realm_id, row.realm_host, row.acting_user_id, row.export_type,
        row.requested_at, row.attempts, holder,
    )  # fmt: skip


def report(session: Session, run: Run, *, done: int, total: int, now: datetime) -> None:
    """Store the progress in rows, and renew the lease. Raise `LeaseLost`."""
    _change(session, run, rows_done=done, rows_total=total, next_try_at=now + LEASE)


def release_run(session: Session, run: Run, *, now: datetime) -> None:
    """Release the claim because the process stops. The next worker may claim the export
    immediately.
    """
    _change(
        session, run,
        state=REQUESTED, holder=None, next_try_at=now, attempts=EXPORTS.c.attempts - 1,
    )  # fmt: skip


def try_again(session: Session, run: Run, reason: str, *, base: str, now: datetime) -> None:
    """Schedule another attempt after an error, or fail after the last one."""
    if not QUEUE.reschedule(session, run, now=now, failure=reason, holder=None):
        fail(session, run, reason, base=base, now=now)


def fail(session: Session, run: Run, reason: str, *, base: str, now: datetime) -> None:
    """End an export without an archive, and notify its requester. Raise `LeaseLost`."""
    _change(session, run, state=FAILED, ended_at=now, failure=reason)
    _notify(session, run, "export_failed", NOT_DONE, {"reason": reason}, base, now)


def succeed(session: Session, run: Run, written: Written, *, base: str, now: datetime) -> None:
    """End an export with a finished archive, and notify its requester. Raise `LeaseLost`."""
    _change(
        session, run,
        state=SUCCEEDED, ended_at=now, failure=None, archive=run.archive,
        archive_bytes=written.bytes, archive_sha256=written.sha256,
        rows_done=written.rows, rows_total=written.rows,
    )  # fmt: skip
    facts = {"bytes": written.bytes, "sha256": written.sha256}
    _notify(session, run, "export_succeeded", DONE, facts, base, now)


def try_expire_one(
    session: Session, *, ended_before: datetime, base_of: Callable[[str], str], now: datetime
) -> bool:
    """Delete the oldest archive that ended before `ended_before`, and return whether there was one.
    The operator's archives are kept. `base_of` returns the base of addresses for a host.
    """
    ended = (
        select(EXPORTS.c.id, EXPORTS.c.realm_id, _REALM.c.host)
        .join(_REALM, _REALM.c.id == EXPORTS.c.realm_id)
        .where(
            EXPORTS.c.state == SUCCEEDED,
            EXPORTS.c.acting_user_id.is_not(None),
            EXPORTS.c.ended_at < ended_before,
            is_running(EXPORTS.c.realm_id),
        )
        .order_by(EXPORTS.c.ended_at, EXPORTS.c.id)
        .limit(1)
        .with_for_update(skip_locked=True, of=EXPORTS)
    )
    row = session.execute(ended).first()
    if row is None:
        return False
    forget_archive(session, row.id, now=now)
    facts = {"export_id": row.id}
    audit.record(session, row.realm_id, "export_expired", facts=facts, now=now)
    notify_exports(session, row.realm_id, base=base_of(row.host), now=now)
    return True


def find_archives(db: Db) -> frozenset[str]:
    """Return the file names of all archives."""
    names = select(EXPORTS.c.archive).where(EXPORTS.c.state == SUCCEEDED)
    return frozenset(db.execute(names).scalars())


def find_holders(db: Db) -> frozenset[str]:
    """Return the `holder` of every attempt in progress."""
    holders = select(EXPORTS.c.holder).where(
        EXPORTS.c.state == STARTED, EXPORTS.c.holder.is_not(None)
    )
    return frozenset(db.execute(holders).scalars())


def _change(session: Session, run: Run, **values: Any) -> None:
    row = update(EXPORTS).where(
        EXPORTS.c.id == run.id, EXPORTS.c.state == STARTED, EXPORTS.c.holder == run.holder
    )
    if session.connection().execute(row.values(**values)).rowcount != 1:
        raise LeaseLost()


def _notify(
    session: Session, run: Run, kind: str, notice: str, facts: dict[str, Any], base: str,
    now: datetime,
) -> None:  # fmt: skip
    facts = {"export_id": run.id, **facts}
    audit.record(session, run.realm_id, kind, actor_id=run.acting_user_id, facts=facts, now=now)
    if run.acting_user_id is None:
        return
    notify_exports(session, run.realm_id, base=base, now=now)
    try_send_notice(
        session, run.realm_id, ToUsers([run.acting_user_id]),
        content=notice, now=now, export_id=run.id,
    )  # fmt: skip
