"""Indexes for reading direct messages and for finding people by name."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_user_message_direct",
        "user_message",
        ["user_id", "message_id"],
        unique=False,
        postgresql_where=sa.text("flags & 2048 <> 0"),
        sqlite_where=sa.text("flags & 2048 <> 0"),
    )
    op.create_index(
        "ix_user_realm_id_lower_full_name",
        "user",
        ["realm_id", sa.text("lower(full_name)")],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index("ix_user_realm_id_lower_full_name", table_name="user")
    op.drop_index("ix_user_message_direct", table_name="user_message")
