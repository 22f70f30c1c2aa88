"""Texts that users keep to write again."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "saved_snippet",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.String(length=60), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", UtcMs(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_saved_snippet"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_saved_snippet_realm_id_realm"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_saved_snippet_user_id_user"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_snippet_user_id_id", "saved_snippet", ["user_id", "id"])


def downgrade() -> None:
    op.drop_table("saved_snippet")
