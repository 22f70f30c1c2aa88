"""Exports of an organization's data, and the plan that lets owners see everything."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0010"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PENDING = sa.text("state IN ('requested', 'started')")


def upgrade() -> None:
    op.add_column(
        "realm",
        sa.Column(
            "owner_full_content_access", sa.Boolean(), nullable=False, server_default=sa.false()
        ),
    )
    op.create_table(
        "data_export",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("acting_user_id", sa.BigInteger(), nullable=True),
        sa.Column("export_type", sa.String(length=24), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.Column("next_try_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("holder", sa.String(length=32), nullable=True),
        sa.Column("rows_done", sa.BigInteger(), nullable=False),
        sa.Column("rows_total", sa.BigInteger(), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("archive", sa.String(length=100), nullable=True),
        sa.Column("archive_bytes", sa.BigInteger(), nullable=True),
        sa.Column("archive_sha256", sa.String(length=64), nullable=True),
        sa.CheckConstraint(
            "export_type IN ('public', 'full_with_consent', 'full_without_consent')",
            name="ck_data_export_export_type",
        ),
        sa.CheckConstraint(
            "state IN ('requested', 'started', 'succeeded', 'failed', 'deleted')",
            name="ck_data_export_state",
        ),
        sa.CheckConstraint(
            "(state = 'succeeded') = (archive IS NOT NULL)", name="ck_data_export_archive"
        ),
        sa.CheckConstraint(
            "(state = 'deleted') = (deleted_at IS NOT NULL)", name="ck_data_export_deleted_at"
        ),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_data_export_realm_id_realm"),
        sa.ForeignKeyConstraint(
            ["acting_user_id"], ["user.id"], name="fk_data_export_acting_user_id_user"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_data_export"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_data_export_pending",
        "data_export",
        ["next_try_at", "id"],
        postgresql_where=PENDING,
        sqlite_where=PENDING,
    )
    op.create_index(
        "ix_data_export_realm_id_requested_at", "data_export", ["realm_id", "requested_at"]
    )


def downgrade() -> None:
    op.drop_table("data_export")
    op.drop_column("realm", "owner_full_content_access")
