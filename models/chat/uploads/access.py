"""Access to files: for their owners, and for users who may read a message that shows them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select

from models.chat.access.channels import reading_as
from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.identity import actors
from models.chat.identity.actors import Actor
from models.chat.identity.errors import RealmMoving
from models.chat.identity.links import find_link, make_link
from models.chat.messages.access import readable_messages
from models.chat.tables import Message
from models.chat.uploads.attachments import ATTACHMENTS, FILES, LINKS, AttachmentRow
from models.chat.uploads.errors import UploadDoesNotExist
from models.chat.uploads.names import handle_of, path_id_of
from models.dialects import in_parameter
from models.rows import read_row
from specd.db import Db

_BY_HANDLE = FILES.where(ATTACHMENTS.c.handle == bindparam("handle"))


@dataclass(frozen=True, slots=True)
class Download:
    """A file, and the id of the user who downloads it."""

    upload: AttachmentRow
    actor_id: int


@cache
def _find_shown(is_guest: bool) -> Select[Any]:
    return (
        select(LINKS.c.attachment_id)
        .join(Message, Message.id == LINKS.c.message_id)
        .where(in_parameter(LINKS.c.attachment_id, "attachment_ids"), readable_messages(is_guest))
        .distinct()
    )


def find_shown_to(db: Db, actor: Actor, attachment_ids: Iterable[int]) -> set[int]:
    """Return the ids of files that are in messages that the actor may read."""
    values = {"attachment_ids": sorted(attachment_ids), **reading_as(db, actor)}
    return set(db.execute(_find_shown(actor.is_guest), values).scalars())


def access_upload(db: Db, actor: Actor, realm: str, filename: str) -> AttachmentRow:
    """Return the file at `/user_uploads/{realm}/{filename}`. Raise `UploadDoesNotExist`. Hidden and
    unknown files take the same number of statements.
    """
    row = read_row(AttachmentRow, db.execute(_BY_HANDLE, {"handle": handle_of(filename)}))
    if row is not None and (
        row.realm_id != actor.realm_id
        or path_id_of(row.realm_id, row.handle, row.path_name) != f"{realm}/{filename}"
    ):
        row = None
    if row is not None and row.owner_id == actor.id:
        return row
    shown = find_shown_to(db, actor, [0 if row is None else row.id])
    if row is None or row.id not in shown:
        raise UploadDoesNotExist()
    return row


def make_temporary_path(vault: Vault, actor: Actor, row: AttachmentRow, *, now: datetime) -> str:
    """Return a path at which a browser gets the file without the actor's key. It is valid for a few
    minutes, while the actor may get the file.
    """
    sealed = make_link(vault, actor, purpose=_purpose(row.handle), now=now)
    return f"/user_uploads/temporary/{sealed}/{row.handle}-{row.path_name}"


def find_linked(
    db: Db, vault: Vault, sealed: str, filename: str, *, host: str, now: datetime
) -> Download | None:
    """Return the file at a temporary address, or None if the address is invalid or has expired.
    Raise `RealmMoving`.
    """
    realm = actors.find_realm_at(db, host)
    if realm is None:
        return None
    realm.require_running()
    purpose = _purpose(handle_of(filename))
    opened = find_link(db, vault, sealed, purpose=purpose, realm_id=realm.id, now=now)
    return None if opened is None else _find(db, opened[1], str(realm.id), filename)


def find_with_key(
    db: Db, realm: str, filename: str, *, host: str, email: str, api_key: str
) -> Download | None:
    """Return the file at its permanent address for the owner of an API key, or None if there is no
    access. Raise `RealmMoving`.
    """
    try:
        actor = actors.authenticate(db, host=host, email=email, api_key=api_key)
    except RealmMoving:
        raise
    except ChatError:
        return None
    return _find(db, actor, realm, filename)


def _find(db: Db, actor: Actor, realm: str, filename: str) -> Download | None:
    try:
        return Download(access_upload(db, actor, realm, filename), actor.id)
    except UploadDoesNotExist:
        return None


def _purpose(handle: str) -> str:
    return f"upload:{handle}"
