"""Stars in a table of their own: a star is set and removed without writing the copy again."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "starred_message",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "message_id", name=op.f("pk_starred_message")),
        sqlite_with_rowid=False,
    )
    # By the partial index: what this takes grows with the stars, not with the copies.
    op.execute(
        "INSERT INTO starred_message (user_id, message_id)"
        " SELECT user_id, message_id FROM user_message WHERE flags & 2 <> 0"
    )
    op.execute("UPDATE user_message SET flags = flags - 2 WHERE flags & 2 <> 0")
    op.drop_index("ix_user_message_starred", table_name="user_message")


def downgrade() -> None:
    starred = sa.text("flags & 2 <> 0")
    op.execute(
        "UPDATE user_message SET flags = flags + 2 WHERE EXISTS (SELECT 1 FROM starred_message s"
        " WHERE s.user_id = user_message.user_id AND s.message_id = user_message.message_id)"
    )
    op.drop_table("starred_message")
    op.create_index(
        "ix_user_message_starred",
        "user_message",
        ["user_id", "message_id"],
        postgresql_where=starred,
        sqlite_where=starred,
    )
