"""Runs of scenarios on invoices of the shop, which is asked what it has made of them."""

from models.migrations.statements import execute_all

revision = "0009"
down_revision = "0008"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE scenario_run ADD COLUMN next_invoice_id VARCHAR(36);
        ALTER TABLE scenario_run ADD COLUMN shop_url VARCHAR(2000);
        ALTER TABLE scenario_run ADD COLUMN shop_answer VARCHAR(200);
    """)
