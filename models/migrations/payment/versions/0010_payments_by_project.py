"""Lists of the payments of a project by their time of receipt."""

from models.migrations.statements import execute_all

revision = "0010"
down_revision = "0009"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE payment ADD COLUMN project_id VARCHAR(36);
        UPDATE payment SET project_id =
            (SELECT invoice.project_id FROM invoice WHERE invoice.id = payment.invoice_id);
    """)
