"""Deleting all that a user has sent: what a request does not get through, a worker does."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "message_removal",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", sa.BigInteger(), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=False),
        sa.Column("public_channels", sa.Boolean(), nullable=False),
        sa.Column("private_channels", sa.Boolean(), nullable=False),
        sa.Column("direct", sa.Boolean(), nullable=False),
        sa.Column("after_id", sa.BigInteger(), nullable=False),
        sa.Column("until_id", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.Integer(), nullable=False),
        sa.Column("asked_at", UtcMs(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_message_removal"),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_message_removal_realm_id_realm"
        ),
        sa.ForeignKeyConstraint(
            ["sender_id"], ["user.id"], name="fk_message_removal_sender_id_user"
        ),
        sa.ForeignKeyConstraint(["actor_id"], ["user.id"], name="fk_message_removal_actor_id_user"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("message_removal")
