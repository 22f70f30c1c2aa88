"""Previews of images under the paragraphs that link to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sqlalchemy import select

from models.chat.tables import Attachment
from specd.db import Db

THUMBNAIL_SIZE = (840, 560)
"""The maximum width and height of a thumbnail, in pixels."""
FORMAT = "840x560.webp"
"""The name of the thumbnail's format, which ends its address."""
MAX_PREVIEWS = 24
"""Maximum number of previews in one message."""

_HANDLE = re.compile(r"user_uploads/[0-9]+/([0-9a-f]{32})-")


@dataclass(frozen=True, slots=True)
class Preview:
    """An image with a thumbnail. `path_id` is the part of its address after `/user_uploads/`."""

    path_id: str
    name: str
    media_type: str
    width: int
    height: int
    is_animated: bool

    @property
    def html(self) -> str:
        """The element that clients expect as the preview of an uploaded image."""
        moves = ' data-animated="true"' if self.is_animated else ""
        return (
            f'<div class="message_inline_image"><a href="/user_uploads/{escape(self.path_id)}"'
            f' title="{escape(self.name)}"><img{moves}'
            f' data-original-content-type="{escape(self.media_type)}"'
            f' data-original-dimensions="{self.width}x{self.height}"'
            f' src="/user_uploads/thumbnail/{escape(self.path_id)}/{FORMAT}"></a></div>\n'
        )


def handles_in(text: str) -> set[str]:
    """Return the handles of the files that a text may link to."""
    return set(_HANDLE.findall(text)) if "user_uploads/" in text else set()


def find_previews(db: Db, realm_id: int, handles: Sequence[str]) -> dict[str, Preview]:
    """Return handle -> the preview, for images of the organization. A thumbnail has the access
    rules of its file.
    """
    if not handles:
        return {}
    wanted = select(
        Attachment.handle,
        Attachment.path_name,
        Attachment.name,
        Attachment.media_type,
        Attachment.width,
        Attachment.height,
        Attachment.is_animated,
    ).where(
        Attachment.handle.in_(handles),
        Attachment.realm_id == realm_id,
        Attachment.width.is_not(None),
        Attachment.deleted_at.is_(None),
    )
    return {
        row.handle: Preview(
            path_id=f"{realm_id}/{row.handle}-{row.path_name}",
            name=row.name,
            media_type=row.media_type,
            width=row.width,
            height=row.height,
            is_animated=bool(row.is_animated),
        )
        for row in db.execute(wanted)
    }
