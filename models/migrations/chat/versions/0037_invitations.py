"""Invitations, and who may send them."""

import sqlalchemy as sa
from alembic import op

from models.types import RowNumber, UtcMs

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

SETTINGS = {
    "can_invite_users_group": "members_group_id",
    "create_multiuse_invite_group": "administrators_group_id",
}


def upgrade() -> None:
    for setting, group in SETTINGS.items():
        column = sa.Column(setting, sa.BigInteger(), nullable=False, server_default="0")
        op.add_column("realm", column)
        op.execute(f"UPDATE realm SET {setting} = {group}")
    op.create_table(
        "invitation",
        sa.Column("id", RowNumber, autoincrement=True, nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("inviter_id", sa.BigInteger(), nullable=False),
        sa.Column("link_id", sa.BigInteger(), nullable=True),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("email_key", sa.String(length=254), nullable=True),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("channel_ids", sa.Text(), nullable=False),
        sa.Column("group_ids", sa.Text(), nullable=False),
        sa.Column("joins_default_channels", sa.Boolean(), nullable=False),
        sa.Column("tells_inviter", sa.Boolean(), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("sealed_token", sa.Text(), nullable=True),
        sa.Column("created_at", UtcMs(), nullable=False),
        sa.Column("expires_at", UtcMs(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_invitation"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_invitation_realm_id_realm"),
        sa.ForeignKeyConstraint(["inviter_id"], ["user.id"], name="fk_invitation_inviter_id_user"),
        sa.ForeignKeyConstraint(
            ["link_id"],
            ["invitation.id"],
            name="fk_invitation_link_id_invitation",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("token_sha256", name="uq_invitation_token_sha256"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_invitation_expires_at", "invitation", ["expires_at"])
    op.create_index("ix_invitation_inviter_id_id", "invitation", ["inviter_id", "id"])
    op.create_index("ix_invitation_link_id", "invitation", ["link_id"])
    op.create_index("ix_invitation_realm_id_email_key", "invitation", ["realm_id", "email_key"])


def downgrade() -> None:
    op.drop_table("invitation")
    for setting in SETTINGS:
        op.drop_column("realm", setting)
