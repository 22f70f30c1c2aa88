"""Where the links of a checkout page lead back to."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("checkout_session", sa.Column("success_url", sa.String(2000), nullable=True))
    op.add_column("checkout_session", sa.Column("cancel_url", sa.String(2000), nullable=True))


def downgrade() -> None:
    op.drop_column("checkout_session", "cancel_url")
    op.drop_column("checkout_session", "success_url")
