"""The part of an amount that may be missing from a paid invoice."""

from models.migrations.statements import execute_all

revision = "0014"
down_revision = "0013"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE project ADD COLUMN tolerance_ppm INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE invoice ADD COLUMN tolerance_ppm INTEGER NOT NULL DEFAULT 0;
    """)
