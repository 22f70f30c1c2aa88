"""Whom users have muted."""

import sqlalchemy as sa
from alembic import op

from models.types import UtcMs

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "muted_user",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("muted_user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("muted_at", UtcMs(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "muted_user_id", name="pk_muted_user"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_muted_user_user_id_user"),
        sa.ForeignKeyConstraint(
            ["muted_user_id"], ["user.id"], name="fk_muted_user_muted_user_id_user"
        ),
    )
    op.create_index(
        "ix_muted_user_muted_user_id_user_id", "muted_user", ["muted_user_id", "user_id"]
    )


def downgrade() -> None:
    op.drop_table("muted_user")
