"""Lists of invoices by exception and by deposit address."""

from alembic import op

revision = "0003"
down_revision = "0002"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, column in (("address", "deposit_address"), ("exception", "exception")):
        op.create_index(
            f"ix_invoice_listed_by_{name}", "invoice", ["project_id", column, "created_at", "id"]
        )
