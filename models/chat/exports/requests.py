"""Exports of the data of an organization.

Administrators request, list, download and delete them. models/chat/exports/runs.py is the worker's
part.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.organization import RealmExportEvent
from models.chat.exports.scope import FULL_WITHOUT_CONSENT
from models.chat.identity import actors
from models.chat.identity.actors import Actor
from models.chat.identity.links import Link, find_link, make_link
from models.chat.tables import DataExport, Message, Realm, User
from models.rows import columns_of, read_rows
from specd.db import Db, table_of


class ExportLimitReached(ChatError):
    """The organization has reached the weekly limit of exports."""

    sentence = "Exceeded rate limit."
    advice = "Use an earlier export, or try again later."


class FullContentAccessRequired(ChatError):
    """The request is for a full export, which this organization does not allow.

    # decided: Zulip does not show this text.
    """

    sentence = "Full exports without consent are not available in this organization."
    advice = "Request a public export, or an export with consent."


class ExportTooLarge(ChatError):
    """The organization has too many messages for an export by request. Facts: `email`, the
    operator's address.
    """

    sentence = (
        "The export you requested is too large for automatic processing."
        " Please request a manual export by contacting {email}."
    )
    advice = "Ask the operator of the server for an export."


class InvalidExportId(ChatError):
    """The organization has no export with this id."""

    sentence = "Invalid data export ID"
    advice = "Use an id that `GET /export/realm` returns."


class ExportAlreadyDeleted(ChatError):
    """The export is already deleted."""

    sentence = "Export already deleted"
    advice = "No action is needed."


class ExportHasFailed(ChatError):
    """The export failed and has no archive."""

    sentence = "Export failed, nothing to delete"
    advice = "Request a new export if you need one."


class ExportInProgress(ChatError):
    """The archive is not finished yet."""

    sentence = "Export still in progress"
    advice = "Wait until `GET /export/realm` shows that the export has finished, then delete it."


REQUESTED, STARTED, SUCCEEDED = "requested", "started", "succeeded"
FAILED, DELETED = "failed", "deleted"
LIMIT, LIMIT_PERIOD = 5, timedelta(days=7)

EXPORTS = table_of(DataExport)
_BY_ID = select(*EXPORTS.c).where(EXPORTS.c.id == bindparam("export_id"))


class _Export(NamedTuple):
    """An export that an administrator requested."""

    id: int
    acting_user_id: int
    export_type: str
    state: str
    requested_at: datetime
    ended_at: datetime | None
    deleted_at: datetime | None


_REQUESTED = (
    select(*columns_of(_Export, EXPORTS))
    .where(EXPORTS.c.realm_id == bindparam("of_realm_id"), EXPORTS.c.acting_user_id.is_not(None))
    .order_by(EXPORTS.c.id)
)
_CONSENTS = (
    select(User.id, User.allow_private_data_export, User.email_address_visibility)  # type: ignore[attr-defined]
    .where(User.realm_id == bindparam("of_realm_id"), User.is_active, User.bot_type.is_(None))
    .order_by(User.id)
)


@dataclass(frozen=True, slots=True)
class Archive:
    """The file of a finished export. `link` is the link in the request, or None."""

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
    """Request an export, and return its id. `contact` is the operator's email address, for the
    error about large exports.

    Raise, in this order: `ExportLimitReached`, `FullContentAccessRequired`, `ExportTooLarge`.
    """
    # The lock ensures that concurrent requests count each other.
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
    count = session.execute(select(func.count()).select_from(some.subquery())).scalar_one()
    if count > messages_max:
        raise ExportTooLarge(email=contact)
    export_id = add_export(session, actor.realm_id, actor.id, export_type, now=now)
    notify_exports(session, actor.realm_id, base=base, now=now)
    return export_id


def add_export(
    session: Session, realm_id: int, actor_id: int | None, export_type: str, *, now: datetime
) -> int:
    """Request an export without limits, and return its id. `actor_id` is None for the operator."""
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
    """Return the exports that administrators requested, oldest first.

    With `links_for`, their addresses are single-use links for that actor. Without it, the addresses
    require a key. `base` is for example `https://acme.example`.
    """
    rows = read_rows(_Export, db.execute(_REQUESTED, {"of_realm_id": realm_id}))
    return [_record(row, base=base, links_for=links_for, now=now) for row in rows]


def find_consents(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Return whether each user consents to the export of private data, with the visibility of the
    user's email address.
    """
    return [
        {"user_id": user_id, "consented": consented, "email_address_visibility": visibility}
        for user_id, consented, visibility in db.execute(_CONSENTS, {"of_realm_id": realm_id})
    ]


def delete_export(
    session: Session, actor: Actor, export_id: int, *, base: str, now: datetime
) -> None:
    """Delete an export; the worker removes its file.

    Raise `InvalidExportId`, `ExportAlreadyDeleted`, `ExportHasFailed`, `ExportInProgress`.
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
    """Mark an export as deleted; the worker removes its file."""
    deleted = {"state": DELETED, "deleted_at": now, "archive": None}
    session.connection().execute(update(EXPORTS).where(EXPORTS.c.id == export_id).values(deleted))


def notify_exports(session: Session, realm_id: int, *, base: str, now: datetime) -> None:
    """Append the event with all exports, for administrators. Its addresses require a key."""
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
    """Return the archive for an active administrator with a valid link (`token`) or with email
    address and API key (`key`), otherwise None. Raise `RealmMoving`.
    """
    realm = actors.find_realm_at(db, host)
    if realm is None:
        return None
    realm.require_running()
    link = None
    if token is not None:
        purpose = _purpose(export_id)
        link_of_user = find_link(db, vault, token, purpose=purpose, realm_id=realm.id, now=now)
        if link_of_user is None or not link_of_user[1].is_administrator:
            return None
        link = link_of_user[0]
    elif key is None or not _is_administrators_key(db, host, *key):
        return None
    row = db.execute(_BY_ID, {"export_id": export_id}).first()
    if row is None or row.realm_id != realm.id or row.acting_user_id is None:
        return None
    if row.state != SUCCEEDED:
        return None
    return Archive(row.archive, row.archive_sha256, row.ended_at, realm.id, link)


def _is_administrators_key(db: Db, host: str, email: str, api_key: str) -> bool:
    try:
        return actors.authenticate(db, host=host, email=email, api_key=api_key).is_administrator
    except ChatError:
        return False


def _record(
    row: _Export, *, base: str, links_for: tuple[Vault, Actor] | None, now: datetime
) -> dict[str, Any]:
    url = None
    if row.state == SUCCEEDED:
        url = f"{base}/exports/{row.id}"
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
