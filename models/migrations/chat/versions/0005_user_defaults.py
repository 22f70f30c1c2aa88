"""Settings that new users begin with."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
oldest = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("user_defaults", sa.Text(), nullable=False, server_default="{}")
    op.add_column("realm", column)
