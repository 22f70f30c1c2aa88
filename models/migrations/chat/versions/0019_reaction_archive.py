"""Reactions to deleted messages are archived with the messages."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reaction_archive",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reaction_type", sa.String(32), nullable=False),
        sa.Column("emoji_code", sa.String(100), nullable=False),
        sa.Column("emoji_name", sa.String(100), nullable=False),
        sa.PrimaryKeyConstraint(
            "message_id", "user_id", "reaction_type", "emoji_code", name="pk_reaction_archive"
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message_archive.id"],
            ondelete="CASCADE",
            name="fk_reaction_archive_message_id_message_archive",
        ),
    )


def downgrade() -> None:
    op.drop_table("reaction_archive")
