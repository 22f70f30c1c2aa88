"""Files that users uploaded, and the messages that show them."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import key_of
from specd.db import RowNumber, UtcMs


class Attachment(ChatBase):
    """An uploaded file. `handle` identifies it in its address and in the store. `width` and
    `height` belong to an image, in pixels; they are null if there is no thumbnail.

    `detached_at` is the time since which no message shows the file, or null while a message shows
    it. After `deleted_at` the file cannot be downloaded, and the worker removes the file and the
    row.
    """

    __tablename__ = "attachment"
    __table_args__ = (
        Index(None, "owner_id", "id"),
        Index(None, "realm_id", "size"),
        Index(None, "detached_at"),
        Index(None, "deleted_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    owner_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    handle: Mapped[str] = mapped_column(String(32), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    path_name: Mapped[str] = mapped_column(String(120))
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str] = mapped_column(String(100))
    width: Mapped[int | None]
    height: Mapped[int | None]
    is_animated: Mapped[bool | None]
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    detached_at: Mapped[datetime | None] = mapped_column(UtcMs)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcMs)


class AttachmentMessage(ChatBase):
    """A message that shows a file. Users who may read the message may download the file."""

    __tablename__ = "attachment_message"
    __table_args__ = (Index(None, "message_id"), {"sqlite_with_rowid": False})

    attachment_id: Mapped[int] = key_of("attachment.id", ondelete="CASCADE")
    message_id: Mapped[int] = key_of("message.id", ondelete="CASCADE")
