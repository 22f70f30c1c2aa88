"""Files that users uploaded, and the messages that show them."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attachment",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=False),
        sa.Column("handle", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("path_name", sa.String(length=120), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(length=100), nullable=False),
        sa.Column("created_at", UtcMs(), nullable=False),
        sa.Column("detached_at", UtcMs(), nullable=True),
        sa.Column("deleted_at", UtcMs(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_attachment"),
        sa.UniqueConstraint("handle", name="uq_attachment_handle"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_attachment_realm_id_realm"),
        sa.ForeignKeyConstraint(["owner_id"], ["user.id"], name="fk_attachment_owner_id_user"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_attachment_owner_id_id", "attachment", ["owner_id", "id"])
    op.create_index("ix_attachment_realm_id_size", "attachment", ["realm_id", "size"])
    op.create_index("ix_attachment_detached_at", "attachment", ["detached_at"])
    op.create_index("ix_attachment_deleted_at", "attachment", ["deleted_at"])
    op.create_table(
        "attachment_message",
        sa.Column("attachment_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("attachment_id", "message_id", name="pk_attachment_message"),
        sa.ForeignKeyConstraint(
            ["attachment_id"],
            ["attachment.id"],
            name="fk_attachment_message_attachment_id_attachment",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["message_id"],
            ["message.id"],
            name="fk_attachment_message_message_id_message",
            ondelete="CASCADE",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_attachment_message_message_id", "attachment_message", ["message_id"])


def downgrade() -> None:
    op.drop_table("attachment_message")
    op.drop_table("attachment")
