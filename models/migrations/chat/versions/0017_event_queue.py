"""Event queues; the channel that an event is about, which its readers must still have access to."""

import sqlalchemy as sa
from alembic import op

from models.types import UtcMs

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "event_queue",
        sa.Column("id", sa.String(36), nullable=False),
        sa.Column("realm_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("client", sa.String(30), nullable=False),
        sa.Column("event_types", sa.Text(), nullable=True),
        sa.Column("narrow", sa.Text(), nullable=False),
        sa.Column("capabilities", sa.Text(), nullable=False),
        sa.Column("all_public_streams", sa.Boolean(), nullable=False),
        sa.Column("apply_markdown", sa.Boolean(), nullable=False),
        sa.Column("client_gravatar", sa.Boolean(), nullable=False),
        sa.Column("slim_presence", sa.Boolean(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("idle_timeout_s", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcMs(), nullable=False),
        sa.Column("polled_until", UtcMs(), nullable=False),
        sa.Column("expires_at", UtcMs(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_event_queue"),
        sa.ForeignKeyConstraint(["realm_id"], ["realm.id"], name="fk_event_queue_realm_id_realm"),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"], name="fk_event_queue_user_id_user"),
    )
    op.create_index("ix_event_queue_user_id", "event_queue", ["user_id"])
    op.create_index("ix_event_queue_realm_id_position", "event_queue", ["realm_id", "position"])
    op.create_index("ix_event_queue_expires_at", "event_queue", ["expires_at"])
    op.add_column("event", sa.Column("channel_id", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("event", "channel_id")
    op.drop_table("event_queue")
