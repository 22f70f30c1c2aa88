"""Payment methods that take no new invoices."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("payment_method", sa.Column("disabled_at", sa.BigInteger()))


def downgrade() -> None:
    with op.batch_alter_table("payment_method") as batch:
        batch.drop_column("disabled_at")
