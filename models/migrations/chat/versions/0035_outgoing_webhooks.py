"""Bots that live at an address, and the messages that are on their way there."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "outgoing_webhook",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("payload_url", sa.String(length=2000), nullable=False),
        sa.Column("interface", sa.Integer(), nullable=False),
        sa.Column("sealed_secret", sa.Text(), nullable=False),
        sa.CheckConstraint("interface IN (1, 2)", name="ck_outgoing_webhook_interface"),
        sa.PrimaryKeyConstraint("user_id", name="pk_outgoing_webhook"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_outgoing_webhook_user_id_user"),
    )
    op.create_table(
        "outgoing_delivery",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("bot_id", sa.BigInteger(), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("cause", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", UtcMs(), nullable=False),
        sa.Column("created_at", UtcMs(), nullable=False),
        sa.CheckConstraint(
            "cause IN ('mention', 'direct_message')", name="ck_outgoing_delivery_cause"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_outgoing_delivery"),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_outgoing_delivery_realm_id_realm"
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["user.id"], name="fk_outgoing_delivery_bot_id_user"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outgoing_delivery_next_try_at_id", "outgoing_delivery", ["next_try_at", "id"]
    )
    op.create_index("ix_outgoing_delivery_bot_id_id", "outgoing_delivery", ["bot_id", "id"])


def downgrade() -> None:
    op.drop_table("outgoing_delivery")
    op.drop_table("outgoing_webhook")
