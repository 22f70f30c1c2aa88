"""Mail that waits to leave."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING = sa.text("state = 'pending'")


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("recipient", sa.String(length=254), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("is_sealed", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", sa.BigInteger(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'sent', 'dead')", name="ck_outbox_state"),
        sa.CheckConstraint("(state = 'pending') = (closed_at IS NULL)", name="ck_outbox_closed_at"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_outbox_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_outbox_due",
        "outbox",
        ["next_try_at", "id"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )
    op.create_index("ix_outbox_state_closed_at", "outbox", ["state", "closed_at"])


def downgrade() -> None:
    op.drop_table("outbox")
