"""Views that users keep at hand in the sidebar of their clients."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "navigation_view",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("fragment", sa.String(length=500), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_navigation_view"),
        sa.UniqueConstraint("user_id", "fragment", name="uq_navigation_view_user_id"),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_navigation_view_realm_id_realm"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_navigation_view_user_id_user"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("navigation_view")
