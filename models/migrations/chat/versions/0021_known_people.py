"""Whom the reader of a queue may know."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("event_queue", sa.Column("known_people", sa.String(64), nullable=True))


def downgrade() -> None:
    op.drop_column("event_queue", "known_people")
