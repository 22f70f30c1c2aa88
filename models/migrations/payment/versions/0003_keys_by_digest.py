"""Keys are found by their digest alone, so that a wrong secret takes as long as an unknown key."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_api_key_secret_sha256", "api_key", ["secret_sha256"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_api_key_secret_sha256", "api_key")
