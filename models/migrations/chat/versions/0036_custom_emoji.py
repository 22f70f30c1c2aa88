"""Custom emoji that users add: who may, and where their pictures are."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("realm_emoji", sa.Column("still_url", sa.Text(), nullable=True))
    op.add_column("realm_emoji", sa.Column("handle", sa.String(length=32), nullable=True))
    op.create_index("ix_realm_emoji_handle", "realm_emoji", ["handle"])
    op.add_column(
        "realm",
        sa.Column(
            "can_add_custom_emoji_group", sa.BigInteger(), nullable=False, server_default="0"
        ),
    )
    op.execute("UPDATE realm SET can_add_custom_emoji_group = members_group_id")


def downgrade() -> None:
    op.drop_column("realm", "can_add_custom_emoji_group")
    op.drop_index("ix_realm_emoji_handle", "realm_emoji")
    op.drop_column("realm_emoji", "handle")
    op.drop_column("realm_emoji", "still_url")
