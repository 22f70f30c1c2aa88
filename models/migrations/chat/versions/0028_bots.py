"""What bots keep between their runs, and who may make bots."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

WHO_MAY = ("can_create_bots_group", "can_create_write_only_bots_group")


def upgrade() -> None:
    op.create_table(
        "bot_storage",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(length=250), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "key", name="pk_bot_storage"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_bot_storage_user_id_user"),
    )
    for name in WHO_MAY:
        # An organization that the previous release makes: nobody, until somebody says who.
        column = sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")
        op.add_column("realm", column)
        op.execute(f"UPDATE realm SET {name} = members_group_id")


def downgrade() -> None:
    for name in WHO_MAY:
        op.drop_column("realm", name)
    op.drop_table("bot_storage")
