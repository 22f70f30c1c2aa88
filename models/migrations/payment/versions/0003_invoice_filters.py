"""Lists of invoices by exception and by deposit address."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_invoice_listed_by_address",
        "invoice",
        ["project_id", "deposit_address", "created_at", "id"],
    )
    unusual = sa.text("exception <> 'none'")
    op.create_index(
        "ix_invoice_listed_by_exception",
        "invoice",
        ["project_id", "exception", "created_at", "id"],
        sqlite_where=unusual,
        postgresql_where=unusual,
    )
