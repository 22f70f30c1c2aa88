"""Which payments count, as events have said: those that do when this release begins."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "payment", sa.Column("counted", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    payment = sa.table("payment", sa.column("status"), sa.column("counted", sa.Boolean()))
    op.execute(payment.update().where(payment.c.status != "orphaned").values(counted=True))


def downgrade() -> None:
    op.drop_column("payment", "counted")
