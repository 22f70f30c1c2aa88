"""Archives that become organizations."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from specd.db import RowNumber, UtcMs


class ChatImport(ChatBase):
    """An import: its progress, and the first ids of its rows.

    `step` is the current step, and `done` the number of its rows that have been added. `first_ids`
    is JSON: table -> its first new id, and empty if all rows keep their ids. `counts` is table ->
    number of rows. Until `finished_at` is set, the organization cannot be used. `archive_sha256` is
    the digest of the manifest, which contains the digests of the other files.
    """

    __tablename__ = "chat_import"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"), unique=True)
    host: Mapped[str] = mapped_column(String(255), index=True)
    archive_sha256: Mapped[str] = mapped_column(String(64))
    salt: Mapped[str] = mapped_column(String(32))
    first_ids: Mapped[str] = mapped_column(Text)
    counts: Mapped[str] = mapped_column(Text)
    step: Mapped[int] = mapped_column(default=0)
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    started_at: Mapped[datetime] = mapped_column(UtcMs)
    finished_at: Mapped[datetime | None] = mapped_column(UtcMs)
