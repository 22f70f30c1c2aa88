"""Events for merchants."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("invoice_id", sa.String(length=36), nullable=True),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name="fk_event_project_id_project"),
        sa.ForeignKeyConstraint(["invoice_id"], ["invoice.id"], name="fk_event_invoice_id_invoice"),
        sa.PrimaryKeyConstraint("id", name="pk_event"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_event_listed", "event", ["project_id", "id"])
    op.create_index("ix_event_listed_by_type", "event", ["project_id", "type", "id"])
    op.create_index("ix_event_listed_by_invoice", "event", ["invoice_id", "id"])


def downgrade() -> None:
    op.drop_table("event")
