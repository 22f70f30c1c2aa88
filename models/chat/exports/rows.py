"""Read an export's rows from a snapshot of the database, in batches, as lines of JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, select, text

from models.chat.exports.scope import FULL_WITH_CONSENT, Scope
from models.chat.exports.tables import PARTS, Part
from models.chat.organization.emoji import STILL
from models.chat.tables import Attachment, Realm, RealmEmoji, User
from models.chat.uploads.names import AVATAR_MEDIUM, key_of

BATCH = 200
FORMAT = 1
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z


def count_rows(snapshot: Connection, scope: Scope) -> int:
    """Return the number of lines of all files."""
    return sum(snapshot.execute(part.count(scope)).scalar_one() for part in PARTS)


def read_lines(snapshot: Connection, part: Part, scope: Scope) -> Iterator[list[bytes]]:
    """Yield the rows of one file as batches of lines. Times are in RFC 3339, in UTC."""
    names = part.columns
    rows = part.rows(scope).execution_options(yield_per=BATCH)
    with snapshot.execute(rows) as result:
        for batch in result.partitions():
            yield [
                orjson.dumps(dict(zip(names, row, strict=True)), option=_OPTIONS) for row in batch
            ]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file: its key in the store, and its name in the archive."""

    key: str
    name: str


def find_files(snapshot: Connection, scope: Scope) -> Iterator[ExportedFile]:
    """Yield the files of exported attachments, custom emoji and avatars."""
    attachments = (
        select(Attachment.realm_id, Attachment.handle, Attachment.path_name)
        .where(scope.is_attachment())
        .order_by(Attachment.id)
        .execution_options(yield_per=BATCH)
    )
    with snapshot.execute(attachments) as result:
        for realm_id, handle, path_name in result:
            yield ExportedFile(key_of(realm_id, handle), f"uploads/{handle}-{path_name}")
    pictures = select(RealmEmoji.handle, RealmEmoji.still_url).where(
        RealmEmoji.realm_id == scope.realm_id, RealmEmoji.handle.is_not(None)
    )
    for picture in snapshot.execute(pictures.order_by(RealmEmoji.id)).all():
        key = key_of(scope.realm_id, str(picture.handle))
        yield ExportedFile(key, f"emoji/{picture.handle}.webp")
        if picture.still_url is not None:
            yield ExportedFile(key + STILL, f"emoji/still/{picture.handle}.webp")
    avatars = select(User.avatar_handle).where(
        User.realm_id == scope.realm_id, User.avatar_handle.is_not(None)
    )
    for avatar in snapshot.execute(avatars.order_by(User.id)).scalars().all():
        key = key_of(scope.realm_id, str(avatar))
        yield ExportedFile(key + AVATAR_MEDIUM, avatar_file(str(avatar)))


def avatar_file(handle: str) -> str:
    """Return the name of an avatar in the archive, which contains the medium size."""
    return f"avatars/{handle}.png"


def describe(snapshot: Connection, scope: Scope) -> dict[str, Any]:
    """Return the manifest's entries about the organization and the schema."""
    realm = snapshot.execute(
        select(Realm.id, Realm.host, Realm.name).where(Realm.id == scope.realm_id)
    ).one()
    version = snapshot.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    consenting: list[int] | None = None
    if scope.export_type == FULL_WITH_CONSENT:
        consenting = sorted(snapshot.execute(scope.consenting()).scalars())
    return {
        "format": FORMAT,
        "service": "specd chat",
        "schema_version": version,
        "realm": {"id": realm.id, "host": realm.host, "name": realm.name},
        "export_type": scope.export_type,
        "consenting_user_ids": consenting,
    }
