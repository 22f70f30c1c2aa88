"""Invoices that are read again stay joined: their next block has a column of its own."""

from models.migrations.statements import execute_all

revision = "0007"
down_revision = "0006"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE invoice ADD COLUMN reread_block BIGINT;
        ALTER TABLE chain_head ADD COLUMN readings_given_up BIGINT NOT NULL DEFAULT 0;
        UPDATE invoice SET reread_block = catch_up_block, catch_up_block = NULL
            WHERE catch_up_block IS NOT NULL AND rereads > 0;
    """)
