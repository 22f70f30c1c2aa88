"""The tables of the payment service, except webhooks and test helpers, with the constraints that
decide races.

Times are aware UTC datetimes (stored as Unix milliseconds), amounts are whole atoms (`Atoms`).
"""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from models.dialects import partial_index
from models.payment.base import PaymentBase
from models.types import Atoms
from specd.db import RowNumber, UtcMs

ADDRESS = String(42)
HASH = String(66)
UUID = String(36)


class Wallet(PaymentBase):
    """An account-level extended public key and the index of its next unused address.

    The index belongs to the key, not to the project: two projects that share a key share the
    sequence, so no address is assigned twice.
    """

    __tablename__ = "wallet"

    xpub: Mapped[str] = mapped_column(String(120), primary_key=True)
    next_address_index: Mapped[int] = mapped_column(Integer, default=0)


class Project(PaymentBase):
    """A merchant, which owns keys, methods and invoices."""

    __tablename__ = "project"

    id: Mapped[str] = mapped_column(UUID, primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    xpub: Mapped[str] = mapped_column(String(120), ForeignKey("wallet.xpub"))
    # The part of an amount that may be missing from a paid invoice, in millionths.
    tolerance_ppm: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    # The last expired event of the project, or null if all events are kept.
    events_gone_until: Mapped[int | None] = mapped_column(BigInteger)


class ApiKey(PaymentBase):
    """A bearer key: its public id and the hash of the full key. Active while `revoked_at` is null.
    A key with the scope `read` changes nothing.
    """

    __tablename__ = "api_key"
    __table_args__ = (CheckConstraint("scope IN ('read', 'write')", name="scope"),)

    id: Mapped[str] = mapped_column(String(8), primary_key=True)
    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"), index=True)
    secret_sha256: Mapped[str] = mapped_column(String(64), unique=True, index=True)
    scope: Mapped[str] = mapped_column(String(8), server_default="write")
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    last_used_at: Mapped[datetime | None] = mapped_column(UtcMs)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcMs)


class PaymentMethod(PaymentBase):
    """A token on a chain that a project accepts (a Route in the API).

    While `disabled_at` is set, no new invoices are created with it. Existing invoices are still
    watched and can be paid.
    """

    __tablename__ = "payment_method"

    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    chain_name: Mapped[str] = mapped_column(String(100))
    token_symbol: Mapped[str] = mapped_column(String(32))
    token_address: Mapped[str] = mapped_column(ADDRESS)
    decimals: Mapped[int] = mapped_column(Integer)
    confirmations_required: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcMs)


UNREAD = -1
"""`Invoice.catch_up_block` of an invoice that the watcher has not read for yet."""


class Invoice(PaymentBase):
    """One attempt at an order: the amount due, the deposit address, and the state of the payment.

    The method's chain, token and confirmations, and the project's tolerance, are copied, so that
    later changes of them do not affect an open invoice. The settlement updates the amounts paid and
    pending.
    """

    __tablename__ = "invoice"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "payment_method_id"], ["payment_method.project_id", "payment_method.id"]
        ),
        UniqueConstraint("project_id", "external_order_id", "attempt_no"),
        UniqueConstraint("chain_id", "deposit_address"),
        Index("ix_invoice_listed", "project_id", "created_at", "id"),
        Index("ix_invoice_listed_by_order", "project_id", "external_order_id", "created_at", "id"),
        Index("ix_invoice_listed_by_address", "project_id", "deposit_address", "created_at", "id"),
        Index("ix_invoice_listed_by_status", "project_id", "status", "created_at", "id"),
        Index(
            "ix_invoice_listed_by_method",
            "project_id",
            "payment_method_id",
            "status",
            "created_at",
            "id",
        ),
        Index("ix_invoice_changed_by_status", "project_id", "status", "updated_at", "id"),
        Index(None, "chain_id", "monitoring_ends_at"),
        partial_index(
            "ix_invoice_listed_by_exception",
            "project_id",
            "exception",
            "created_at",
            "id",
            where=text("exception <> 'none'"),
        ),
        partial_index(
            "ix_invoice_changed_by_exception",
            "project_id",
            "exception",
            "updated_at",
            "id",
            where=text("exception <> 'none'"),
        ),
        partial_index("ix_invoice_newcomers", "chain_id", where=text("catch_up_block IS NOT NULL")),
        partial_index("ix_invoice_rereadings", "chain_id", where=text("reread_block IS NOT NULL")),
        partial_index(
            "ix_invoice_unpaid", "chain_id", "expires_at", where=text("status = 'unpaid'")
        ),
        partial_index(
            "ix_invoice_to_reread", "chain_id", "monitoring_ends_at", where=text("rereads < 2")
        ),
        CheckConstraint(
            "status IN ('unpaid', 'processing', 'paid', 'expired', 'canceled')", name="status"
        ),
        CheckConstraint(
            "exception IN ('none', 'partial', 'over', 'late', 'reorged')", name="exception"
        ),
        CheckConstraint("attempt_no BETWEEN 1 AND 2147483647", name="attempt_no"),
        CheckConstraint("(status = 'canceled') = (canceled_at IS NOT NULL)", name="canceled_at"),
        CheckConstraint("(status = 'paid') = (paid_at IS NOT NULL)", name="paid_at"),
    )

    id: Mapped[str] = mapped_column(UUID, primary_key=True)
    project_id: Mapped[str] = mapped_column(UUID)
    external_order_id: Mapped[str] = mapped_column(String(150))
    attempt_no: Mapped[int] = mapped_column(Integer)
    status: Mapped[str] = mapped_column(String(16))
    exception: Mapped[str] = mapped_column(String(16))
    payment_method_id: Mapped[str] = mapped_column(String(64))
    amount: Mapped[int] = mapped_column(Atoms)
    amount_paid: Mapped[int] = mapped_column(Atoms)
    amount_pending: Mapped[int] = mapped_column(Atoms)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    chain_name: Mapped[str] = mapped_column(String(100))
    token_address: Mapped[str] = mapped_column(ADDRESS)
    token_symbol: Mapped[str] = mapped_column(String(32))
    decimals: Mapped[int] = mapped_column(Integer)
    deposit_address: Mapped[str] = mapped_column(ADDRESS)
    address_index: Mapped[int] = mapped_column(Integer)
    confirmations_required: Mapped[int] = mapped_column(Integer)
    tolerance_ppm: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    # Transfers in this block and below precede the invoice and do not pay it. It is the watcher's
    # checkpoint at the creation, or null before the watcher's first step.
    creation_block: Mapped[int | None] = mapped_column(BigInteger)
    # The timestamp of that checkpoint. It is kept if a reorganization drops the block.
    creation_time: Mapped[datetime | None] = mapped_column(UtcMs)
    # The chain's newest block at the creation, if it was above the checkpoint. Once the watcher has
    # found it on the chain, it becomes the creation block.
    creation_head: Mapped[int | None] = mapped_column(BigInteger)
    creation_head_hash: Mapped[str | None] = mapped_column(HASH)
    # The next block that the watcher reads for this invoice alone. `UNREAD`: not started. Null:
    # caught up, and read together with all others (workers/chain_watcher.py).
    catch_up_block: Mapped[int | None] = mapped_column(BigInteger, default=UNREAD)
    # The next block that the watcher reads again for this invoice alone, through all endpoints, or
    # null if no rescan is due. Meanwhile it is also read together with all others.
    reread_block: Mapped[int | None] = mapped_column(BigInteger)
    # The last full rescan that was scheduled: 0 none, 1 after the expiry, 2 after the monitoring.
    rereads: Mapped[int] = mapped_column(Integer, default=0)
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    updated_at: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime] = mapped_column(UtcMs)
    monitoring_ends_at: Mapped[datetime] = mapped_column(UtcMs)
    paid_at: Mapped[datetime | None] = mapped_column(UtcMs)
    canceled_at: Mapped[datetime | None] = mapped_column(UtcMs)
    # The merchant's metadata as a JSON object of texts, or null if there is none.
    metadata_json: Mapped[str | None] = mapped_column(Text)
    # How the merchant closed the invoice. Null: it is not closed, or it has changed since.
    resolution: Mapped[str | None] = mapped_column(String(16))
    resolution_note: Mapped[str | None] = mapped_column(Text)
    refund_tx_hash: Mapped[str | None] = mapped_column(HASH)
    resolved_at: Mapped[datetime | None] = mapped_column(UtcMs)
    # Whether transfers to the invoice were not stored because they are too small and too many.
    has_left_out: Mapped[bool] = mapped_column(Boolean, default=False, server_default="false")


class Payment(PaymentBase):
    """One token transfer to a deposit address in one block. Orphaned if the block was dropped."""

    __tablename__ = "payment"
    __table_args__ = (
        UniqueConstraint("chain_id", "block_hash", "tx_hash", "log_index"),
        Index(None, "tx_hash"),
        Index(None, "chain_id", "block_number"),
        Index("ix_payment_listed", "project_id", "detected_at", "id"),
        partial_index(
            "ix_payment_pending", "chain_id", "block_number", where=text("status = 'pending'")
        ),
        CheckConstraint("status IN ('pending', 'confirmed', 'orphaned')", name="status"),
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    invoice_id: Mapped[str] = mapped_column(UUID, ForeignKey("invoice.id"), index=True)
    # The project of the invoice, set by the settlement. Null in rows that a server of an earlier
    # release wrote during an upgrade.
    project_id: Mapped[str | None] = mapped_column(UUID)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    block_number: Mapped[int] = mapped_column(BigInteger)
    block_hash: Mapped[str] = mapped_column(HASH)
    block_timestamp: Mapped[datetime] = mapped_column(UtcMs)
    tx_hash: Mapped[str] = mapped_column(HASH)
    log_index: Mapped[int] = mapped_column(BigInteger)
    from_address: Mapped[str] = mapped_column(ADDRESS)
    amount: Mapped[int] = mapped_column(Atoms)
    status: Mapped[str] = mapped_column(String(16))
    late: Mapped[bool] = mapped_column(default=False)
    # Whether the last settlement of its invoice counted it and emitted the event.
    counted: Mapped[bool] = mapped_column(default=False)
    detected_at: Mapped[datetime] = mapped_column(UtcMs)


class InvoiceEvent(PaymentBase):
    """One transition of one invoice, appended in its transaction and kept permanently for the
    books. Merchants read `Event` instead.
    """

    __tablename__ = "invoice_event"

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    invoice_id: Mapped[str] = mapped_column(UUID, ForeignKey("invoice.id"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    from_status: Mapped[str | None] = mapped_column(String(16))
    to_status: Mapped[str] = mapped_column(String(16))
    exception: Mapped[str] = mapped_column(String(16))
    facts: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(UtcMs)


class Event(PaymentBase):
    """One event for a merchant, for GET /v1/events and for webhooks. The ids of a project's events
    are in commit order.

    `data` is a JSON object of `size` bytes with the state at that time. `invoice_id` is null if the
    event is not about an invoice. `traceparent` is the trace context of its cause, if there is one.
    """

    __tablename__ = "event"
    __table_args__ = (
        Index("ix_event_listed", "project_id", "id"),
        Index("ix_event_listed_by_type", "project_id", "type", "id"),
        Index("ix_event_listed_by_invoice", "invoice_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"))
    invoice_id: Mapped[str | None] = mapped_column(UUID, ForeignKey("invoice.id"))
    type: Mapped[str] = mapped_column(String(40))
    data: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(Integer)
    at: Mapped[datetime] = mapped_column(UtcMs)
    traceparent: Mapped[str | None] = mapped_column(String(55))


class IdempotencyKey(PaymentBase):
    """A used key with its operation and response. The primary key decides races."""

    __tablename__ = "idempotency_key"

    project_id: Mapped[str] = mapped_column(UUID, ForeignKey("project.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(100), primary_key=True)
    operation: Mapped[str] = mapped_column(String(64))
    fingerprint: Mapped[str] = mapped_column(String(64))
    status: Mapped[int] = mapped_column(Integer)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    invoice_id: Mapped[str | None] = mapped_column(UUID)
    created_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class CheckoutSession(PaymentBase):
    """A shopper's access to one invoice's page. Only the token's hash is stored."""

    __tablename__ = "checkout_session"

    id: Mapped[str] = mapped_column(UUID, primary_key=True)
    invoice_id: Mapped[str] = mapped_column(UUID, ForeignKey("invoice.id"), index=True)
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    success_url: Mapped[str | None] = mapped_column(String(2000))
    cancel_url: Mapped[str | None] = mapped_column(String(2000))
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class ChainHead(PaymentBase):
    """How far the watcher has read a chain (checkpoint), and the chain's newest block (head).

    Everything up to the chain's time `read_until` has been read. It is the checkpoint's time, or
    later on a chain without new blocks. Blocks up to `reread_number` were read twice.
    """

    __tablename__ = "chain_head"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    checkpoint_number: Mapped[int] = mapped_column(BigInteger)
    checkpoint_hash: Mapped[str] = mapped_column(HASH)
    checkpoint_timestamp: Mapped[datetime] = mapped_column(UtcMs)
    head_number: Mapped[int] = mapped_column(BigInteger)
    head_hash: Mapped[str | None] = mapped_column(HASH)
    head_seen_at: Mapped[datetime | None] = mapped_column(UtcMs)
    read_until: Mapped[datetime] = mapped_column(UtcMs)
    reread_number: Mapped[int] = mapped_column(BigInteger)
    # Reads that ended without the logs of all their blocks, because no endpoint returned them.
    readings_given_up: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    # Counts the watcher's transactions. One that began from an older revision changes nothing.
    revision: Mapped[int] = mapped_column(BigInteger, default=0)
    updated_at: Mapped[datetime] = mapped_column(UtcMs)


class ChainBlock(PaymentBase):
    """A recent checkpoint, kept to find the block where a reorganization began."""

    __tablename__ = "chain_block"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    hash: Mapped[str] = mapped_column(HASH)
    timestamp: Mapped[datetime] = mapped_column(UtcMs)


class Lease(PaymentBase):
    """The holder of a job, and when its lease expires."""

    __tablename__ = "lease"

    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    holder: Mapped[str] = mapped_column(String(200))
    expires_at: Mapped[datetime] = mapped_column(UtcMs)


class WorkerHeartbeat(PaymentBase):
    """When a worker last ran without failure (specd/_db/worker_heartbeats.py)."""

    __tablename__ = "worker_heartbeat"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(UtcMs)
