"""Resolutions of invoices."""

from models.migrations.statements import execute_all

revision = "0012"
down_revision = "0011"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE invoice ADD COLUMN resolution VARCHAR(16);
        ALTER TABLE invoice ADD COLUMN resolution_note TEXT;
        ALTER TABLE invoice ADD COLUMN refund_tx_hash VARCHAR(66);
        ALTER TABLE invoice ADD COLUMN resolved_at BIGINT;
    """)
