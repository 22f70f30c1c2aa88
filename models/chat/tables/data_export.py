"""Exports of an organization's data."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.dialects import partial_index
from specd.db import RowNumber, UtcMs

PENDING = text("state IN ('requested', 'started')")


class DataExport(ChatBase):
    """An export: `requested`, `started`, then `succeeded` or `failed`; `deleted` after success.

    `next_try_at` is the time from which it may be claimed. The worker that claims it (`holder`)
    repeatedly advances that time by a lease, so that the export is due again if the worker dies.
    `archive` is the file name, which is set when the file is complete on disk. `acting_user_id` is
    null if the operator requested the export.
    """

    __tablename__ = "data_export"
    __table_args__ = (
        partial_index("ix_data_export_pending", "next_try_at", "id", where=PENDING),
        Index(None, "realm_id", "requested_at"),
        CheckConstraint(
            "export_type IN ('public', 'full_with_consent', 'full_without_consent')",
            name="export_type",
        ),
        CheckConstraint(
            "state IN ('requested', 'started', 'succeeded', 'failed', 'deleted')", name="state"
        ),
        CheckConstraint("(state = 'succeeded') = (archive IS NOT NULL)", name="archive"),
        CheckConstraint("(state = 'deleted') = (deleted_at IS NOT NULL)", name="deleted_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    acting_user_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    export_type: Mapped[str] = mapped_column(String(24))
    state: Mapped[str] = mapped_column(String(10), default="requested")
    requested_at: Mapped[datetime] = mapped_column(UtcMs)
    ended_at: Mapped[datetime | None] = mapped_column(UtcMs)  # with success or failure
    deleted_at: Mapped[datetime | None] = mapped_column(UtcMs)
    next_try_at: Mapped[datetime] = mapped_column(UtcMs)
    attempts: Mapped[int] = mapped_column(default=0)
    holder: Mapped[str | None] = mapped_column(String(32))
    rows_done: Mapped[int] = mapped_column(BigInteger, default=0)
    rows_total: Mapped[int] = mapped_column(BigInteger, default=0)
    failure: Mapped[str | None] = mapped_column(Text)
    archive: Mapped[str | None] = mapped_column(String(100))
    archive_bytes: Mapped[int | None] = mapped_column(BigInteger)
    archive_sha256: Mapped[str | None] = mapped_column(String(64))
