"""Webhook endpoints, their secrets, and what became of each message."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "webhook_endpoint",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("event_types", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("disabled_reason", sa.String(length=16), nullable=True),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("paused_until", sa.BigInteger(), nullable=True),
        sa.Column("claimed_by", sa.String(length=64), nullable=True),
        sa.Column("claimed_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["project.id"], name="fk_webhook_endpoint_project_id_project"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_endpoint"),
    )
    op.create_index(
        "ix_webhook_endpoint_listed", "webhook_endpoint", ["project_id", "created_at", "id"]
    )
    op.create_index("ix_webhook_endpoint_deleted_at", "webhook_endpoint", ["deleted_at"])
    op.create_table(
        "webhook_secret",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("endpoint_id", sa.String(length=36), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoint.id"],
            name="fk_webhook_secret_endpoint_id_webhook_endpoint",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_secret"),
    )
    op.create_index("ix_webhook_secret_endpoint_id", "webhook_secret", ["endpoint_id"])
    _create_deliveries()


def _create_deliveries() -> None:
    op.create_table(
        "webhook_delivery",
        sa.Column("event_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("endpoint_id", sa.String(length=36), nullable=False),
        sa.Column("invoice_id", sa.String(length=36), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("tried", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoint.id"],
            name="fk_webhook_delivery_endpoint_id_webhook_endpoint",
        ),
        sa.PrimaryKeyConstraint("event_id", "endpoint_id", name="pk_webhook_delivery"),
    )
    for name, columns, condition in (
        ("due", ["endpoint_id", "next_try_at"], "next_try_at IS NOT NULL"),
        ("open", ["endpoint_id", "invoice_id", "event_id"], "closed_at IS NULL"),
    ):
        op.create_index(
            f"ix_webhook_delivery_{name}",
            "webhook_delivery",
            columns,
            postgresql_where=sa.text(condition),
            sqlite_where=sa.text(condition),
        )
    op.create_table(
        "webhook_attempt",
        sa.Column("id", ROW_NUMBER, nullable=False),
        sa.Column("endpoint_id", sa.String(length=36), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("event_type", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("failure", sa.String(length=40), nullable=True),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoint.id"],
            name="fk_webhook_attempt_endpoint_id_webhook_endpoint",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_attempt"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhook_attempt_listed", "webhook_attempt", ["endpoint_id", "id"])


def downgrade() -> None:
    for table in ("webhook_attempt", "webhook_delivery", "webhook_secret", "webhook_endpoint"):
        op.drop_table(table)
