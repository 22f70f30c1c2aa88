"""A word that only the secret of the service opens, so that machines with another one are told."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secret_check",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_secret_check"),
    )


def downgrade() -> None:
    op.drop_table("secret_check")
