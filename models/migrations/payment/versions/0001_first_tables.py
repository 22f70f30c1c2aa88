"""The payment service's first tables.

Spelled out in plain column types, so that this page of history never changes with the models.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chain_block",
        sa.Column("chain_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.String(length=66), nullable=False),
        sa.Column("timestamp", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("chain_id", "number", name="pk_chain_block"),
    )
    op.create_table(
        "chain_head",
        sa.Column("chain_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("checkpoint_number", sa.BigInteger(), nullable=False),
        sa.Column("checkpoint_hash", sa.String(length=66), nullable=False),
        sa.Column("checkpoint_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("head_number", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("chain_id", name="pk_chain_head"),
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_lease"),
    )
    op.create_table(
        "wallet",
        sa.Column("xpub", sa.String(length=120), nullable=False),
        sa.Column("next_address_index", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("xpub", name="pk_wallet"),
    )
    op.create_table(
        "project",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("xpub", sa.String(length=120), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["xpub"], ["wallet.xpub"], name="fk_project_xpub_wallet"),
        sa.PrimaryKeyConstraint("id", name="pk_project"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(length=8), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("secret_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_api_key_project_id_project"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
    )
    op.create_index("ix_api_key_project_id", "api_key", ["project_id"], unique=False)
    op.create_table(
        "idempotency_key",
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("operation", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("invoice_id", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_idempotency_key_project_id_project"
        ),
        sa.PrimaryKeyConstraint("project_id", "key", name="pk_idempotency_key"),
    )
    op.create_index(
        "ix_idempotency_key_created_at", "idempotency_key", ["created_at"], unique=False
    )
    op.create_table(
        "payment_method",
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("chain_id", sa.BigInteger(), nullable=False),
        sa.Column("chain_name", sa.String(length=100), nullable=False),
        sa.Column("token_symbol", sa.String(length=32), nullable=False),
        sa.Column("token_address", sa.String(length=42), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("confirmations_required", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_payment_method_project_id_project"
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name="pk_payment_method"),
    )
    op.create_table(
        "invoice",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("external_order_id", sa.String(length=150), nullable=False),
        sa.Column("attempt_no", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("exception", sa.String(length=16), nullable=False),
        sa.Column("payment_method_id", sa.String(length=64), nullable=False),
        sa.Column("amount", sa.Text(), nullable=False),
        sa.Column("amount_paid", sa.Text(), nullable=False),
        sa.Column("amount_pending", sa.Text(), nullable=False),
        sa.Column("chain_id", sa.BigInteger(), nullable=False),
        sa.Column("chain_name", sa.String(length=100), nullable=False),
        sa.Column("token_address", sa.String(length=42), nullable=False),
        sa.Column("token_symbol", sa.String(length=32), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("deposit_address", sa.String(length=42), nullable=False),
        sa.Column("address_index", sa.Integer(), nullable=False),
        sa.Column("confirmations_required", sa.Integer(), nullable=False),
        sa.Column("creation_block", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("monitoring_ends_at", sa.BigInteger(), nullable=False),
        sa.Column("paid_at", sa.BigInteger(), nullable=True),
        sa.Column("canceled_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(status = 'canceled') = (canceled_at IS NOT NULL)", name=op.f("ck_invoice_canceled_at")
        ),
        sa.CheckConstraint(
            "(status = 'paid') = (paid_at IS NOT NULL)", name=op.f("ck_invoice_paid_at")
        ),
        sa.CheckConstraint(
            "exception IN ('none', 'partial', 'over', 'late', 'reorged')",
            name=op.f("ck_invoice_exception"),
        ),
        sa.CheckConstraint(
            "status IN ('unpaid', 'processing', 'paid', 'expired', 'canceled')",
            name=op.f("ck_invoice_status"),
        ),
        sa.CheckConstraint(
            "attempt_no BETWEEN 1 AND 2147483647", name=op.f("ck_invoice_attempt_no")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "payment_method_id"],
            ["payment_method.project_id", "payment_method.id"],
            name="fk_invoice_project_id_payment_method_id_payment_method",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_invoice"),
        sa.UniqueConstraint(
            "chain_id", "deposit_address", name="uq_invoice_chain_id_deposit_address"
        ),
        sa.UniqueConstraint(
            "project_id",
            "external_order_id",
            "attempt_no",
            name="uq_invoice_project_id_external_order_id_attempt_no",
        ),
    )
    op.create_index(
        "ix_invoice_chain_id_monitoring_ends_at",
        "invoice",
        ["chain_id", "monitoring_ends_at"],
        unique=False,
    )
    op.create_table(
        "checkout_session",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("invoice_id", sa.String(length=36), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoice.id"], name="fk_checkout_session_invoice_id_invoice"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_checkout_session"),
        sa.UniqueConstraint("token_sha256", name="uq_checkout_session_token_sha256"),
    )
    op.create_index(
        "ix_checkout_session_invoice_id", "checkout_session", ["invoice_id"], unique=False
    )
    op.create_table(
        "invoice_event",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("invoice_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("from_status", sa.String(length=16), nullable=True),
        sa.Column("to_status", sa.String(length=16), nullable=False),
        sa.Column("exception", sa.String(length=16), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoice.id"], name="fk_invoice_event_invoice_id_invoice"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_invoice_event"),
    )
    op.create_index("ix_invoice_event_invoice_id", "invoice_event", ["invoice_id"], unique=False)
    op.create_table(
        "payment",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("invoice_id", sa.String(length=36), nullable=False),
        sa.Column("chain_id", sa.BigInteger(), nullable=False),
        sa.Column("block_number", sa.BigInteger(), nullable=False),
        sa.Column("block_hash", sa.String(length=66), nullable=False),
        sa.Column("block_timestamp", sa.BigInteger(), nullable=False),
        sa.Column("tx_hash", sa.String(length=66), nullable=False),
        sa.Column("log_index", sa.BigInteger(), nullable=False),
        sa.Column("from_address", sa.String(length=42), nullable=False),
        sa.Column("amount", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("detected_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('pending', 'confirmed', 'orphaned')", name=op.f("ck_payment_status")
        ),
        sa.ForeignKeyConstraint(
            ["invoice_id"], ["invoice.id"], name="fk_payment_invoice_id_invoice"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_payment"),
        sa.UniqueConstraint(
            "chain_id",
            "block_hash",
            "tx_hash",
            "log_index",
            name="uq_payment_chain_id_block_hash_tx_hash_log_index",
        ),
    )
    op.create_index(
        "ix_payment_chain_id_block_number", "payment", ["chain_id", "block_number"], unique=False
    )
    op.create_index("ix_payment_invoice_id", "payment", ["invoice_id"], unique=False)
