"""Sign-in by token, devices for push notifications, tokens of the video-call vendor."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0003"
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "jwt_configuration",
        sa.Column("realm_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sealed_key", sa.Text(), nullable=False),
        sa.Column("algorithms", sa.String(length=64), nullable=False),
        sa.Column("audience", sa.String(length=255), nullable=True),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["realm_id"], ["realm.id"], name="fk_jwt_configuration_realm_id_realm"
        ),
        sa.PrimaryKeyConstraint("realm_id", name="pk_jwt_configuration"),
    )
    op.create_table(
        "client_device",
        sa.Column("id", ROW_NUMBER, autoincrement=True, nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("registered_at", sa.BigInteger(), nullable=False),
        sa.Column("sealed_push_key", sa.Text(), nullable=True),
        sa.Column("push_key_id", sa.BigInteger(), nullable=True),
        sa.Column("push_token_kind", sa.String(length=4), nullable=True),
        sa.Column("push_token_id", sa.String(length=12), nullable=True),
        sa.Column("pending_push_token_id", sa.String(length=12), nullable=True),
        sa.Column("push_token_changed_at", sa.BigInteger(), nullable=True),
        sa.Column("push_error_code", sa.String(length=40), nullable=True),
        sa.CheckConstraint(
            "push_token_kind IN ('apns', 'fcm')", name="ck_client_device_push_token_kind"
        ),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_client_device_user_id_user"),
        sa.PrimaryKeyConstraint("id", name="pk_client_device"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_client_device_user_id_push_token_id", "client_device", ["user_id", "push_token_id"]
    )
    op.create_table(
        "vendor_token",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("vendor_user_id", sa.String(length=255), nullable=False),
        sa.Column("sealed_tokens", sa.Text(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("refreshing_until", sa.BigInteger(), nullable=True),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_vendor_token_user_id_user"),
        sa.PrimaryKeyConstraint("user_id", name="pk_vendor_token"),
    )
    op.create_index("ix_vendor_token_vendor_user_id", "vendor_token", ["vendor_user_id"])


def downgrade() -> None:
    for table in ("vendor_token", "client_device", "jwt_configuration"):
        op.drop_table(table)
