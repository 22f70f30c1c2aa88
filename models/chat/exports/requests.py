"""Exports of an organization's data as administrators ask for, list, download and delete them.

models/chat/exports/runs.py is the worker's side; docs/decisions tells why it is so.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.access.membership import require_role
from models.chat.common import audit
from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.organization import RealmExportEvent
from models.chat.exports.errors import (
    ExportAlreadyDeleted,
    ExportHasFailed,
    ExportInProgress,
    ExportLimitReached,
    ExportTooLarge,
    FullContentAccessRequired,
    InvalidExportId,
)
from models.chat.exports.scope import FULL_WITHOUT_CONSENT
from models.chat.identity import actors
from models.chat.identity.actors import Actor
from models.chat.identity.links import Link, find_link, make_link
from models.chat.tables import DataExport, Message, Realm, User
from models.reader import Db

REQUESTED, STARTED, SUCCEEDED = "requested", "started", "succeeded"
FAILED, DELETED = "failed", "deleted"
LIMIT, LIMIT_PERIOD = 5, timedelta(days=7)

EXPORTS = table_of(DataExport)
_BY_ID = select(*EXPORTS.c).where(EXPORTS.c.id == bindparam("export_id"))
_ASKED_FOR = (
    select(*EXPORTS.c)
    .where(EXPORTS.c.realm_id == bindparam("of_realm_id"), EXPORTS.c.acting_user_id.is_not(None))
    .order_by(EXPORTS.c.id)
)
_CONSENTS = (
    select(User.id, User.allow_private_data_export, User.email_address_visibility)  # type: ignore[attr-defined]
    .where(User.realm_id == bindparam("of_realm_id"), User.is_active, User.bot_type.is_(None))
    .order_by(User.id)
)


class _Export(Protocol):
    """An export as clients are told of it; the table's row fits."""

    @property
    def id(self) -> int: ...
    @property
    def acting_user_id(self) -> int | None: ...
    @property
    def export_type(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def requested_at(self) -> datetime: ...
    @property
    def ended_at(self) -> datetime | None: ...
    @property
    def deleted_at(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class Archive:
    """A finished export's file, for whoever may have it; `link` is what they came with."""

    name: str
    sha256: str
    made_at: datetime
    realm_id: int
    link: Link | None = None


def request_export(
    session: Session,
    actor: Actor,
    export_type: str,
    *,
    messages_max: int,
    contact: str,
    base: str,
    now: datetime,
) -> int:
    """Have an export made; its id. `contact`: whom to ask about one that is too large.

    Raises, in this order: `ExportLimitReached`, `FullContentAccessRequired`, `ExportTooLarge`.
    """
    # Those who ask at once do it one after the other.
    locked = select(Realm.owner_full_content_access).where(Realm.id == actor.realm_id)
    has_full_access = session.execute(locked.with_for_update(key_share=True)).scalar_one()
    recent = select(func.count()).where(
        EXPORTS.c.realm_id == actor.realm_id,
        EXPORTS.c.acting_user_id.is_not(None),
        EXPORTS.c.requested_at > now - LIMIT_PERIOD,
    )
    if session.execute(recent).scalar_one() >= LIMIT:
        raise ExportLimitReached()
    if export_type == FULL_WITHOUT_CONSENT and not has_full_access:
        raise FullContentAccessRequired()
    some = select(Message.id).where(Message.realm_id == actor.realm_id).limit(messages_max + 1)
    if session.execute(select(func.count()).select_from(some.subquery())).scalar_one() > (
        messages_max
    ):
        raise ExportTooLarge(email=contact)
    export_id = add_export(session, actor.realm_id, actor.id, export_type, now=now)
    notify_exports(session, actor.realm_id, base=base, now=now)
    return export_id


def add_export(
    session: Session, realm_id: int, actor_id: int | None, export_type: str, *, now: datetime
) -> int:
    """The same without limits, as the operator asks (`actor_id` None)."""
    values = {
        "realm_id": realm_id,
        "acting_user_id": actor_id,
        "export_type": export_type,
        "state": REQUESTED,
        "requested_at": now,
        "next_try_at": now,
        "attempts": 0,
        "rows_done": 0,
        "rows_total": 0,
    }
    added = insert(EXPORTS).values(values).returning(EXPORTS.c.id)
    export_id: int = session.connection().execute(added).scalar_one()
    facts = {"export_id": export_id, "export_type": export_type}
    audit.record(session, realm_id, "export_requested", actor_id=actor_id, facts=facts, now=now)
    return export_id


def find_exports(
    db: Db,
    realm_id: int,
    *,
    base: str,
    links_for: tuple[Vault, Actor] | None = None,
    now: datetime,
) -> list[dict[str, Any]]:
    """Records of what administrators asked for, oldest first. With `links_for` the addresses of
    archives are links of that actor's, which work once; else they need a key.
    """
    rows = db.execute(_ASKED_FOR, {"of_realm_id": realm_id})
    return [_record(row, base=base, links_for=links_for, now=now) for row in rows]


def find_consents(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Which people let their private data be exported, and to whom they show their address."""
    return [
        {"user_id": user_id, "consented": consented, "email_address_visibility": visibility}
        for user_id, consented, visibility in db.execute(_CONSENTS, {"of_realm_id": realm_id})
    ]


def delete_export(
    session: Session, actor: Actor, export_id: int, *, base: str, now: datetime
) -> None:
    """Nobody gets its archive from now on; the worker removes the file.

    Raises `InvalidExportId`, `ExportAlreadyDeleted`, `ExportHasFailed`, `ExportInProgress`.
    """
    row = session.execute(_BY_ID.with_for_update(), {"export_id": export_id}).first()
    if row is None or row.realm_id != actor.realm_id or row.acting_user_id is None:
        raise InvalidExportId()
    refusals: dict[str, type[ChatError]] = {
        DELETED: ExportAlreadyDeleted,
        FAILED: ExportHasFailed,
        REQUESTED: ExportInProgress,
        STARTED: ExportInProgress,
    }
    if row.state in refusals:
        raise refusals[row.state]()
    forget_archive(session, export_id, now=now)
    facts = {"export_id": export_id}
    kind = "export_deleted"
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, facts=facts, now=now)
    notify_exports(session, actor.realm_id, base=base, now=now)


def forget_archive(session: Session, export_id: int, *, now: datetime) -> None:
    """Nobody gets the archive of that export from now on; the worker removes the file."""
    gone = {"state": DELETED, "deleted_at": now, "archive": None}
    session.connection().execute(update(EXPORTS).where(EXPORTS.c.id == export_id).values(gone))


def notify_exports(session: Session, realm_id: int, *, base: str, now: datetime) -> None:
    """Tell the administrators of all exports. No event holds an address that works by itself."""
    event = RealmExportEvent(exports=find_exports(session, realm_id, base=base, now=now))
    log.append(session, realm_id, event, to_administrators=True, now=now)


def access_archive(
    db: Db,
    vault: Vault,
    export_id: int,
    *,
    host: str,
    token: str | None,
    key: tuple[str, str] | None,
    now: datetime,
) -> Archive | None:
    """The archive, for an administrator with a link of theirs that works (`token`), or with their
    API email and `key`; None for anybody else, who may have been one when the link was made.
    """
    realm = actors.find_realm_at(db, host)
    if realm is None:
        return None
    link = None
    if token is not None:
        purpose = _purpose(export_id)
        found = find_link(db, vault, token, purpose=purpose, realm_id=realm.id, now=now)
        if found is None or not _is_administrator(found[1]):
            return None
        link = found[0]
    elif key is None or not _is_administrators_key(db, host, *key):
        return None
    row = db.execute(_BY_ID, {"export_id": export_id}).first()
    if row is None or row.realm_id != realm.id or row.acting_user_id is None:
        return None
    if row.state != SUCCEEDED:
        return None
    return Archive(row.archive, row.archive_sha256, row.ended_at, realm.id, link)


def address_of(base: str, export_id: int) -> str:
    """Where an export's archive is; `base` as in `https://acme.example`."""
    return f"{base}/exports/{export_id}"


def _is_administrator(actor: Actor) -> bool:
    try:
        require_role(actor, "administrator")
    except ChatError:
        return False
    return True


def _is_administrators_key(db: Db, host: str, email: str, api_key: str) -> bool:
    try:
        actor = actors.authenticate(db, host=host, email=email, api_key=api_key)
    except ChatError:
        return False
    return _is_administrator(actor)


def _record(
    row: _Export, *, base: str, links_for: tuple[Vault, Actor] | None, now: datetime
) -> dict[str, Any]:
    url = None
    if row.state == SUCCEEDED:
        url = address_of(base, row.id)
        if links_for is not None:
            url += "/" + make_link(*links_for, purpose=_purpose(row.id), now=now)
    return {
        "id": row.id,
        "acting_user_id": row.acting_user_id,
        "export_time": row.requested_at.timestamp(),
        "deleted_timestamp": _unix(row.deleted_at) if row.state == DELETED else None,
        "failed_timestamp": _unix(row.ended_at) if row.state == FAILED else None,
        "export_url": url,
        "pending": row.state in (REQUESTED, STARTED),
        "export_type": row.export_type,
    }


def _unix(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def _purpose(export_id: int) -> str:
    return f"export:{export_id}"
