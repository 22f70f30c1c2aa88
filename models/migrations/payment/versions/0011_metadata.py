"""Metadata of invoices."""

from models.migrations.statements import execute_all

revision = "0011"
down_revision = "0010"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("ALTER TABLE invoice ADD COLUMN metadata_json TEXT;")
