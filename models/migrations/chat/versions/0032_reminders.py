"""Reminders are scheduled messages that name another message."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("scheduled_message", sa.Column("target_message_id", sa.BigInteger()))
    op.add_column("scheduled_message", sa.Column("note", sa.Text()))


def downgrade() -> None:
    # Without its message, a reminder would be one that its user sends to themselves.
    op.execute("DELETE FROM scheduled_message WHERE target_message_id IS NOT NULL")
    op.drop_column("scheduled_message", "note")
    op.drop_column("scheduled_message", "target_message_id")
