"""What it takes to read a chain twice, and to know what was there before an invoice.

Chains and invoices that exist are taken for read as they were: nothing is read again from the
beginning. Invoices that are still unpaid are read anew before they expire.
"""

import time

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("chain_head", sa.Column("head_hash", sa.String(66), nullable=True))
    op.add_column("chain_head", sa.Column("head_seen_at", sa.BigInteger(), nullable=True))
    for name in ("read_until", "reread_number"):
        op.add_column(
            "chain_head", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0")
        )
    op.execute(
        "UPDATE chain_head SET read_until = checkpoint_timestamp, reread_number = checkpoint_number"
    )
    op.add_column("invoice", sa.Column("creation_time", sa.BigInteger(), nullable=True))
    op.add_column("invoice", sa.Column("creation_head", sa.BigInteger(), nullable=True))
    op.add_column("invoice", sa.Column("creation_head_hash", sa.String(66), nullable=True))
    op.add_column("invoice", sa.Column("rereads", sa.Integer(), nullable=False, server_default="0"))
    op.execute("UPDATE invoice SET rereads = 1 WHERE status <> 'unpaid'")
    op.execute(
        sa.text("UPDATE invoice SET rereads = 2 WHERE monitoring_ends_at < :now").bindparams(
            now=int(time.time() * 1000)
        )
    )
    condition = sa.text("rereads < 2")
    op.create_index(
        "ix_invoice_to_reread",
        "invoice",
        ["chain_id", "monitoring_ends_at"],
        postgresql_where=condition,
        sqlite_where=condition,
    )


def downgrade() -> None:
    op.drop_index("ix_invoice_to_reread", "invoice")
    op.drop_column("invoice", "rereads")
    op.drop_column("invoice", "creation_head_hash")
    op.drop_column("invoice", "creation_head")
    op.drop_column("invoice", "creation_time")
    for name in ("reread_number", "read_until", "head_seen_at", "head_hash"):
        op.drop_column("chain_head", name)
