"""Events that say something for a moment only are found by their time."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

EPHEMERAL = sa.text("type IN ('presence', 'typing', 'typing_edit_message')")


def upgrade() -> None:
    op.create_index(
        "ix_event_ephemeral",
        "event",
        ["at"],
        postgresql_where=EPHEMERAL,
        sqlite_where=EPHEMERAL,
    )


def downgrade() -> None:
    op.drop_index("ix_event_ephemeral", "event")
