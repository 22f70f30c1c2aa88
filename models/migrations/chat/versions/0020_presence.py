"""When people were last there."""

import sqlalchemy as sa
from alembic import op

from models.types import UtcMs

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "presence",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("last_active_at", UtcMs(), nullable=True),
        sa.Column("last_connected_at", UtcMs(), nullable=False),
        sa.Column("update_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_presence"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_presence_user_id_user"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_presence_realm_id_realm"),
    )
    op.create_index("ix_presence_realm_id_update_id", "presence", ["realm_id", "update_id"])


def downgrade() -> None:
    op.drop_table("presence")
