"""Deliveries and attempts that were sent by request, out of order."""

from models.migrations.statements import execute_all

revision = "0008"
down_revision = "0007"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE webhook_delivery ADD COLUMN redelivered BOOLEAN NOT NULL DEFAULT false;
        ALTER TABLE webhook_attempt ADD COLUMN redelivered BOOLEAN NOT NULL DEFAULT false;
    """)
