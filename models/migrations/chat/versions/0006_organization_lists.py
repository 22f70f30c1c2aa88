"""Folder names that differ in more than case; code playgrounds."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    with op.batch_alter_table("channel_folder") as table:
        table.add_column(sa.Column("name_key", sa.String(length=200), nullable=True))
    op.execute("UPDATE channel_folder SET name_key = lower(name)")
    with op.batch_alter_table("channel_folder") as table:
        table.alter_column("name_key", nullable=False, existing_type=sa.String(length=200))
        table.create_unique_constraint("uq_channel_folder_realm_id", ["realm_id", "name_key"])
    op.create_table(
        "playground",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("syntax_language", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url_template", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_playground_realm_id_realm"),
        sa.PrimaryKeyConstraint("id", name="pk_playground"),
        sa.UniqueConstraint("realm_id", "syntax_language", "name", name="uq_playground_realm_id"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("playground")
    with op.batch_alter_table("channel_folder") as table:
        table.drop_constraint("uq_channel_folder_realm_id", type_="unique")
        table.drop_column("name_key")
