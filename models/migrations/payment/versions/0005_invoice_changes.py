"""Lists of invoices by payment method and by their last change, whose indexes `specd._db.indexes`
builds.
"""

revision = "0005"
down_revision = "0004"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No table changes."""
