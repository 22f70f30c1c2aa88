"""The last event of each project that is kept no more."""

from models.migrations.statements import execute_all

revision = "0015"
down_revision = "0014"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("ALTER TABLE project ADD COLUMN events_gone_until BIGINT;")
