"""The list of the invoices of one order, by age."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_invoice_listed_by_order",
        "invoice",
        ["project_id", "external_order_id", "created_at", "id"],
    )


def downgrade() -> None:
    op.drop_index("ix_invoice_listed_by_order", "invoice")
