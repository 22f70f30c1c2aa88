"""Lists of invoices by exception and by deposit address, whose indexes `specd._db.indexes`
builds.
"""

revision = "0003"
down_revision = "0002"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No table changes."""
