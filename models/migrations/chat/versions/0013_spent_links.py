"""Links that were used: each works once."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spent_link",
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_spent_link"),
    )
    op.create_index("ix_spent_link_ends_at", "spent_link", ["ends_at"])


def downgrade() -> None:
    op.drop_table("spent_link")
