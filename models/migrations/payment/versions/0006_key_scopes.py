"""Keys that may only read. To a server of an older release each key is one that may write."""

from models.migrations.statements import execute_all

revision = "0006"
down_revision = "0005"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_all("""
        ALTER TABLE api_key ADD COLUMN scope VARCHAR(8) NOT NULL DEFAULT 'write'
            CONSTRAINT ck_api_key_scope CHECK (scope IN ('read', 'write'));
    """)
