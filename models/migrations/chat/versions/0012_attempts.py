"""Attempts at passwords and changes of email, counted in the database; places that are known."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attempt_count",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("arrival_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_attempt_count"),
    )
    op.create_index("ix_attempt_count_arrival_at", "attempt_count", ["arrival_at"])
    op.create_table(
        "known_place",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_known_place"),
    )
    op.create_index("ix_known_place_last_at", "known_place", ["last_at"])


def downgrade() -> None:
    op.drop_table("known_place")
    op.drop_table("attempt_count")
