"""The lists of a project's invoices: by age, and by status and age."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_invoice_listed", "invoice", ["project_id", "created_at", "id"])
    op.create_index(
        "ix_invoice_listed_by_status", "invoice", ["project_id", "status", "created_at", "id"]
    )


def downgrade() -> None:
    op.drop_index("ix_invoice_listed_by_status", "invoice")
    op.drop_index("ix_invoice_listed", "invoice")
