"""When each worker last ran."""

from models.migrations.statements import execute_all

revision = "0008"
down_revision = "0007"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all(
        """
CREATE TABLE worker_heartbeat (
    name VARCHAR(60) NOT NULL CONSTRAINT pk_worker_heartbeat PRIMARY KEY,
    seen_at BIGINT NOT NULL
);
"""
    )
