"""Channel folders, which group the channels of a realm. Their order is the same for all users."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from models.chat.access.people import find_visible_user_ids, id_if_visible
from models.chat.channels.errors import (
    FolderExists,
    FolderInUse,
    FolderNameIsEmpty,
    InvalidChannelFolder,
    InvalidCharacterInFolderName,
    InvalidFolderOrder,
)
from models.chat.common.errors import InvalidParameter
from models.chat.common.name_keys import key_of
from models.chat.common.one_line import FORBIDDEN
from models.chat.events.channels import (
    ChannelFolderAddEvent,
    ChannelFolderReorderEvent,
    ChannelFolderUpdateEvent,
    FolderChange,
)
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.tables import Channel, ChannelFolder
from models.rows import columns_of, read_rows
from specd.db import Db

NAME_MAX = 60


class _FolderRow(NamedTuple):
    id: int
    name: str
    description: str
    rendered_description: str
    creator_id: int | None
    date_created: datetime
    is_archived: bool
    position: int


_ALL = (
    select(*columns_of(_FolderRow, ChannelFolder))
    .where(ChannelFolder.realm_id == bindparam("realm_id"))
    .order_by(ChannelFolder.position, ChannelFolder.id)
)


def check_folder_name(name: str) -> str:
    """Return the trimmed name, as it is stored. Raise `FolderNameIsEmpty`, `InvalidParameter`,
    `InvalidCharacterInFolderName`.
    """
    name = name.strip()
    if not name:
        raise FolderNameIsEmpty()
    if len(name) > NAME_MAX:
        raise InvalidParameter(name="name", problem=f"is too long (limit: {NAME_MAX} characters)")
    bad = FORBIDDEN.search(name)
    if bad is not None:
        raise InvalidCharacterInFolderName(position=bad.end())
    return name


def find_folders(db: Db, actor: Actor, *, include_archived: bool) -> list[dict[str, Any]]:
    """Return the realm's folders in the API's form, in order, without creators that the actor may
    not see.
    """
    rows = read_rows(_FolderRow, db.execute(_ALL, {"realm_id": actor.realm_id}))
    visible_ids = find_visible_user_ids(db, actor)
    return [
        _described(row) | {"creator_id": id_if_visible(row.creator_id, visible_ids)}
        for row in rows
        if include_archived or not row.is_archived
    ]


def create_folder(
    session: Session, actor: Actor, *, name: str, description: str, html: str, now: datetime
) -> int:
    """Create a folder in the last position, and return its id. `html` is the description, rendered.
    Raise an error of `check_folder_name`, or `FolderExists`.
    """
    name = check_folder_name(name)
    lock_realm(session, actor.realm_id)
    _require_free(session, actor.realm_id, name)
    folder = ChannelFolder(
        realm_id=actor.realm_id,
        name=name,
        name_key=key_of(name),
        description=description,
        rendered_description=html,
        creator_id=actor.id,
        date_created=now,
        is_archived=False,
        position=0,
    )
    session.add(folder)
    session.flush()
    folder.position = folder.id
    session.flush()
    event = ChannelFolderAddEvent(channel_folder=_described(folder))
    facts = {"channel_folder_id": folder.id}
    append_change(session, actor, "channel_folder_created", facts, event, now=now)
    return folder.id


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """New values; None means no change."""

    name: str | None = None
    description: str | None = None
    is_archived: bool | None = None


def update_folder(
    session: Session,
    actor: Actor,
    folder_id: int,
    changes: FolderChanges,
    *,
    html: str,
    now: datetime,
) -> None:
    """Change a folder, with an event of the values that changed. If one change fails, none is made.
    `html` is the new description, rendered.

    Raise `InvalidChannelFolder`, an error of `check_folder_name`, `FolderExists` or `FolderInUse`.
    """
    lock_realm(session, actor.realm_id)
    folder = session.scalars(
        select(ChannelFolder).where(
            ChannelFolder.id == folder_id, ChannelFolder.realm_id == actor.realm_id
        )
    ).first()
    if folder is None:
        raise InvalidChannelFolder()
    data: FolderChange = {}
    if changes.name is not None and (name := check_folder_name(changes.name)) != folder.name:
        _require_free(session, actor.realm_id, name, besides=folder.id)
        folder.name, folder.name_key = name, key_of(name)
        data["name"] = name
    if changes.description is not None and changes.description != folder.description:
        folder.description = data["description"] = changes.description
        folder.rendered_description = data["rendered_description"] = html
    if changes.is_archived is not None and changes.is_archived != folder.is_archived:
        used = select(Channel.id).where(Channel.folder_id == folder.id, ~Channel.is_archived)
        if changes.is_archived and session.execute(used.limit(1)).first() is not None:
            raise FolderInUse()
        folder.is_archived = data["is_archived"] = changes.is_archived
    if data:
        session.flush()
        event = ChannelFolderUpdateEvent(channel_folder_id=folder.id, data=data)
        facts = {"channel_folder_id": folder.id, **data}
        append_change(session, actor, "channel_folder_changed", facts, event, now=now)


def reorder_folders(session: Session, actor: Actor, order: Sequence[int], *, now: datetime) -> None:
    """Sort the folders in this order. If an id is repeated, its last position counts. Unknown ids
    are ignored. Raise `InvalidFolderOrder` unless all folders are in the list.
    """
    lock_realm(session, actor.realm_id)
    ids = {row.id for row in session.execute(_ALL, {"realm_id": actor.realm_id})}
    positions = {folder_id: at for at, folder_id in enumerate(order) if folder_id in ids}
    if positions.keys() != ids:
        raise InvalidFolderOrder()
    if positions:
        session.execute(
            update(ChannelFolder),
            [{"id": folder_id, "position": at} for folder_id, at in positions.items()],
        )
    event = ChannelFolderReorderEvent(order=sorted(positions, key=positions.__getitem__))
    append_change(session, actor, "channel_folders_reordered", event.payload(), event, now=now)


def _described(folder: _FolderRow | ChannelFolder) -> dict[str, Any]:
    return {
        "id": folder.id,
        "name": folder.name,
        "description": folder.description,
        "rendered_description": folder.rendered_description,
        "creator_id": folder.creator_id,
        "date_created": int(folder.date_created.timestamp()),
        "is_archived": folder.is_archived,
        "order": folder.position,
    }


def _require_free(
    session: Session, realm_id: int, name: str, *, besides: int | None = None
) -> None:
    taken = select(ChannelFolder.id).where(
        ChannelFolder.realm_id == realm_id,
        ChannelFolder.name_key == key_of(name),
        ChannelFolder.id != (besides or 0),
    )
    if session.execute(taken).first() is not None:
        raise FolderExists(name=name)
