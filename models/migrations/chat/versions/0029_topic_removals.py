"""A removal of messages is of a user's or of a topic's."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

SENDER_OR_TOPIC = "(sender_id IS NULL) <> (topic IS NULL)"
NUMBERED = {"sqlite_autoincrement": True}
TOPIC_OF_CHANNEL = "(channel_id IS NULL) = (topic IS NULL)"


def upgrade() -> None:
    with op.batch_alter_table("message_removal", table_kwargs=NUMBERED) as table:
        table.alter_column("sender_id", nullable=True, existing_type=sa.BigInteger())
        table.add_column(sa.Column("channel_id", sa.BigInteger(), nullable=True))
        table.add_column(sa.Column("topic", sa.String(length=60), nullable=True))
        table.create_foreign_key(
            "fk_message_removal_channel_id_channel", "channel", ["channel_id"], ["id"]
        )
        table.create_check_constraint("sender_or_topic", SENDER_OR_TOPIC)
        table.create_check_constraint("topic_of_channel", TOPIC_OF_CHANNEL)


def downgrade() -> None:
    op.execute("DELETE FROM message_removal WHERE sender_id IS NULL")
    with op.batch_alter_table("message_removal", table_kwargs=NUMBERED) as table:
        table.drop_constraint(op.f("ck_message_removal_topic_of_channel"), type_="check")
        table.drop_constraint(op.f("ck_message_removal_sender_or_topic"), type_="check")
        table.drop_constraint("fk_message_removal_channel_id_channel", type_="foreignkey")
        table.drop_column("topic")
        table.drop_column("channel_id")
        table.alter_column("sender_id", nullable=False, existing_type=sa.BigInteger())
