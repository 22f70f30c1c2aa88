"""Pictures that users upload, and organizations that allow none."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("user", sa.Column("avatar_handle", sa.String(32), nullable=True))
    op.create_index("ix_user_avatar_handle", "user", ["avatar_handle"])
    disabled: sa.Column[bool] = sa.Column(
        "avatar_changes_disabled", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("realm", disabled)
