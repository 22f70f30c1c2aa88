"""Messages that moved or went by the thousand: the search index follows in steps."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "stale_search",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_stale_search"),
    )


def downgrade() -> None:
    op.drop_table("stale_search")
