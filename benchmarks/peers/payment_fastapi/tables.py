"""The ORM classes, with the same tables, keys and constraints as our service."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator


class Milliseconds(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as Unix milliseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        return None if value is None else round(value.timestamp() * 1000)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)


class Atoms(TypeDecorator[int]):
    """An exact whole number up to uint256, stored as decimal text."""

    impl = String(78)
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> Any:
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        return None if value is None else int(value)


class Base(DeclarativeBase):
    type_annotation_map = {datetime: Milliseconds}  # noqa: RUF012


class Wallet(Base):
    __tablename__ = "wallet"

    xpub: Mapped[str] = mapped_column(String(120), primary_key=True)
    next_address_index: Mapped[int] = mapped_column(default=0)


class Project(Base):
    __tablename__ = "project"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    xpub: Mapped[str] = mapped_column(String(120), ForeignKey("wallet.xpub"))
    created_at: Mapped[datetime]


class ApiKey(Base):
    __tablename__ = "api_key"

    id: Mapped[str] = mapped_column(String(8), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"), index=True)
    secret_sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    project: Mapped[Project] = relationship(lazy="joined", innerjoin=True)


class PaymentMethod(Base):
    __tablename__ = "payment_method"

    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    chain_name: Mapped[str] = mapped_column(String(100))
    token_symbol: Mapped[str] = mapped_column(String(32))
    token_address: Mapped[str] = mapped_column(String(42))
    decimals: Mapped[int]
    confirmations_required: Mapped[int]
    created_at: Mapped[datetime]


class Invoice(Base):
    __tablename__ = "invoice"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "payment_method_id"], ["payment_method.project_id", "payment_method.id"]
        ),
        UniqueConstraint("project_id", "external_order_id", "attempt_no"),
        UniqueConstraint("chain_id", "deposit_address"),
        Index("ix_invoice_monitoring", "chain_id", "monitoring_ends_at"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    project_id: Mapped[str] = mapped_column(String(36))
    external_order_id: Mapped[str] = mapped_column(String(150))
    attempt_no: Mapped[int]
    status: Mapped[str] = mapped_column(String(16), default="unpaid")
    exception: Mapped[str] = mapped_column(String(16), default="none")
    payment_method_id: Mapped[str] = mapped_column(String(64))
    amount: Mapped[int] = mapped_column(Atoms)
    amount_paid: Mapped[int] = mapped_column(Atoms, default=0)
    amount_pending: Mapped[int] = mapped_column(Atoms, default=0)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    token_address: Mapped[str] = mapped_column(String(42))
    deposit_address: Mapped[str] = mapped_column(String(42))
    address_index: Mapped[int] = mapped_column(Integer)
    confirmations_required: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    monitoring_ends_at: Mapped[datetime]
    paid_at: Mapped[datetime | None]
    canceled_at: Mapped[datetime | None]

    payments: Mapped[list["Payment"]] = relationship(order_by="Payment.id")


class Payment(Base):
    __tablename__ = "payment"
    __table_args__ = (UniqueConstraint("chain_id", "block_hash", "tx_hash", "log_index"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    invoice_id: Mapped[str] = mapped_column(ForeignKey("invoice.id"), index=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    block_number: Mapped[int] = mapped_column(BigInteger)
    block_hash: Mapped[str] = mapped_column(String(66))
    tx_hash: Mapped[str] = mapped_column(String(66))
    log_index: Mapped[int] = mapped_column(BigInteger)
    from_address: Mapped[str] = mapped_column(String(42))
    amount: Mapped[int] = mapped_column(Atoms)
    status: Mapped[str] = mapped_column(String(16))
    late: Mapped[bool]
    detected_at: Mapped[datetime]


class ChainHead(Base):
    __tablename__ = "chain_head"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    head_number: Mapped[int] = mapped_column(BigInteger)


class InvoiceEvent(Base):
    __tablename__ = "invoice_event"

    id: Mapped[int] = mapped_column(primary_key=True)
    invoice_id: Mapped[str] = mapped_column(ForeignKey("invoice.id"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    from_status: Mapped[str | None] = mapped_column(String(16))
    to_status: Mapped[str] = mapped_column(String(16))
    exception: Mapped[str] = mapped_column(String(16))
    facts: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime]

    invoice: Mapped[Invoice] = relationship()


class IdempotencyKey(Base):
    __tablename__ = "idempotency_key"

    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    operation: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]
    body: Mapped[bytes]
    invoice_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(index=True)
