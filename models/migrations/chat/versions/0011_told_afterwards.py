"""Who asked for what the audit log tells; indexes by which old rows are found."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0007"
branch_labels = None
depends_on = None

DELIVERED = sa.text("state = 'sent'")


def upgrade() -> None:
    op.add_column("audit_log", sa.Column("key_id", sa.String(length=16), nullable=True))
    op.add_column("audit_log", sa.Column("address", sa.String(length=64), nullable=True))
    op.add_column("audit_log", sa.Column("request_id", sa.String(length=32), nullable=True))
    op.create_index("ix_email_change_expires_at", "email_change", ["expires_at"])
    op.create_index(
        "ix_scheduled_message_sent",
        "scheduled_message",
        ["scheduled_at"],
        postgresql_where=DELIVERED,
        sqlite_where=DELIVERED,
    )
