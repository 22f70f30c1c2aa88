"""Drafts that all clients of a person have."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "draft",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("recipient_ids", sa.Text(), nullable=True),
        sa.Column("topic", sa.String(length=60), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("edited_at", UtcMs(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_draft"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_draft_realm_id_realm"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_draft_user_id_user"),
        sa.ForeignKeyConstraint(["channel_id"], ["channel.id"], name="fk_draft_channel_id_channel"),
        sa.CheckConstraint(
            "channel_id IS NULL OR recipient_ids IS NULL", name="ck_draft_recipient"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_draft_user_id_edited_at_id", "draft", ["user_id", "edited_at", "id"])


def downgrade() -> None:
    op.drop_table("draft")
