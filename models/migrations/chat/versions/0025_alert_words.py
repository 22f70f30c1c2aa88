"""Words that users want to be alerted to."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "alert_word",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("word_key", sa.String(length=300), nullable=False),
        sa.Column("first_part", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alert_word"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_alert_word_realm_id_realm"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_alert_word_user_id_user"),
        sa.UniqueConstraint("user_id", "word_key", name="uq_alert_word_user_id_word_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_alert_word_realm_id_first_part_user_id",
        "alert_word",
        ["realm_id", "first_part", "user_id"],
    )


def downgrade() -> None:
    op.drop_table("alert_word")
