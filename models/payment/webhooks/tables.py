"""The tables of webhooks."""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, String, Text, false, text
from sqlalchemy.orm import Mapped, mapped_column

from models.dialects import partial_index
from models.payment.base import PaymentBase
from models.payment.tables import UUID
from specd.db import RowNumber, UtcMs


class WebhookEndpoint(PaymentBase):
    """An address that a project's events are posted to.

    `event_types` is a JSON array. `cursor` is the newest event whose deliveries exist. `claimed_by`
    may send until `claimed_until`. Nothing is sent before `paused_until`, which the receiver
    requested. `failing_since` is the first failure after the last success. A removed endpoint keeps
    its row, without secrets, until its deliveries and attempts have expired.
    """

    __tablename__ = "webhook_endpoint"
    __table_args__ = (Index("ix_webhook_endpoint_listed", "project_id", "created_at", "id"),)

    id: Mapped[str] = mapped_column(UUID, primary_key=True)
    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"))
    url: Mapped[str] = mapped_column(Text)
    event_types: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    disabled_reason: Mapped[str | None] = mapped_column(String(16))
    cursor: Mapped[int] = mapped_column(BigInteger)
    failing_since: Mapped[datetime | None] = mapped_column(UtcMs)
    paused_until: Mapped[datetime | None] = mapped_column(UtcMs)
    claimed_by: Mapped[str | None] = mapped_column(String(64))
    claimed_until: Mapped[datetime | None] = mapped_column(UtcMs)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    updated_at: Mapped[datetime] = mapped_column(UtcMs)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcMs, index=True)


class WebhookSecret(PaymentBase):
    """A sealed signing secret of an endpoint. The newest has no end; others sign until theirs."""

    __tablename__ = "webhook_secret"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    endpoint_id: Mapped[str] = mapped_column(UUID, ForeignKey("webhook_endpoint.id"), index=True)
    sealed: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime | None] = mapped_column(UtcMs)


class WebhookDelivery(PaymentBase):
    """One event for one endpoint. It is open while `closed_at` is null. `outcome` is null until the
    event is delivered, given up or unwanted.

    Of the open deliveries of one invoice to one endpoint, the oldest has a `next_try_at`. The
    others wait, unless a request has sent one out of order (`redelivered`). A closed delivery that
    was requested again also has a `next_try_at`. It stays closed, so no other delivery waits for
    it. `attempts` counts since the last request, `tried` counts all.
    """

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        partial_index(
            "ix_webhook_delivery_due",
            "endpoint_id",
            "next_try_at",
            where=text("next_try_at IS NOT NULL"),
        ),
        partial_index(
            "ix_webhook_delivery_open",
            "endpoint_id",
            "invoice_id",
            "event_id",
            where=text("closed_at IS NULL"),
        ),
    )

    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    endpoint_id: Mapped[str] = mapped_column(
        UUID, ForeignKey("webhook_endpoint.id"), primary_key=True
    )
    invoice_id: Mapped[str | None] = mapped_column(UUID)
    attempts: Mapped[int] = mapped_column(Integer)
    tried: Mapped[int] = mapped_column(Integer)
    next_try_at: Mapped[datetime | None] = mapped_column(UtcMs)
    outcome: Mapped[str | None] = mapped_column(String(16))
    closed_at: Mapped[datetime | None] = mapped_column(UtcMs)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    redelivered: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)


class WebhookAttempt(PaymentBase):
    """One request to an endpoint and its result. `answer` is the beginning of the response body."""

    __tablename__ = "webhook_attempt"
    __table_args__ = (
        Index("ix_webhook_attempt_listed", "endpoint_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    endpoint_id: Mapped[str] = mapped_column(UUID, ForeignKey("webhook_endpoint.id"))
    event_id: Mapped[int] = mapped_column(BigInteger)
    event_type: Mapped[str] = mapped_column(String(40))
    number: Mapped[int] = mapped_column(Integer)
    at: Mapped[datetime] = mapped_column(UtcMs)
    duration_ms: Mapped[int] = mapped_column(Integer)
    status_code: Mapped[int | None] = mapped_column(Integer)
    failure: Mapped[str | None] = mapped_column(String(40))
    answer: Mapped[str] = mapped_column(Text)
    next_try_at: Mapped[datetime | None] = mapped_column(UtcMs)
    redelivered: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)


class SecretCheck(PaymentBase):
    """A text that only the service's secret opens (specd/_db/secret_checks.py), in one row."""

    __tablename__ = "secret_check"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    sealed: Mapped[str] = mapped_column(Text)
