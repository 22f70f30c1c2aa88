"""Whether an organization shows who has read a message."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Where it was not asked for, nobody's reading is shown; new organizations begin with it.
    op.add_column(
        "realm",
        sa.Column("enable_read_receipts", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    op.drop_column("realm", "enable_read_receipts")
