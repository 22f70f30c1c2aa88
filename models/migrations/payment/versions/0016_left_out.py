"""Whether transfers to an invoice were left out because there were too many small ones."""

from models.migrations.statements import execute_all

revision = "0016"
down_revision = "0015"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("ALTER TABLE invoice ADD COLUMN has_left_out BOOLEAN NOT NULL DEFAULT false;")
