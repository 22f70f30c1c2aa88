"""What the chain watcher needs: how far each invoice is read, and indexes over what is open."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "invoice", sa.Column("catch_up_block", sa.BigInteger(), nullable=True, server_default="-1")
    )
    op.add_column(
        "chain_head", sa.Column("revision", sa.BigInteger(), nullable=False, server_default="0")
    )
    _partial_index("ix_invoice_newcomers", "invoice", ["chain_id"], "catch_up_block IS NOT NULL")
    _partial_index("ix_invoice_unpaid", "invoice", ["chain_id", "expires_at"], "status = 'unpaid'")
    _partial_index(
        "ix_payment_pending", "payment", ["chain_id", "block_number"], "status = 'pending'"
    )
    op.create_index("ix_checkout_session_expires_at", "checkout_session", ["expires_at"])


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, postgresql_where=condition, sqlite_where=condition)


def downgrade() -> None:
    op.drop_index("ix_checkout_session_expires_at", "checkout_session")
    op.drop_index("ix_payment_pending", "payment")
    op.drop_index("ix_invoice_unpaid", "invoice")
    op.drop_index("ix_invoice_newcomers", "invoice")
    op.drop_column("chain_head", "revision")
    op.drop_column("invoice", "catch_up_block")
