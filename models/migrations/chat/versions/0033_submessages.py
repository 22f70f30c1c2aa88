"""What users do with polls and to-do lists."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "submessage",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_submessage"),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
            ondelete="CASCADE",
            name="fk_submessage_message_id_message",
        ),
        sa.ForeignKeyConstraint(["sender_id"], ["user.id"], name="fk_submessage_sender_id_user"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_submessage_message_id_id", "submessage", ["message_id", "id"])


def downgrade() -> None:
    op.drop_table("submessage")
