"""FTS5 no longer merges its segments by itself: whoever sends messages does so in small steps
(models/chat/messages/search.py). Servers of the previous release merge when a level is full.
"""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

_DEFAULT_SEGMENTS = 4


def upgrade() -> None:
    _merge_from(0)


def downgrade() -> None:
    _merge_from(_DEFAULT_SEGMENTS)


def _merge_from(segments: int) -> None:
    """Have FTS5 merge once a level has so many segments; 0: never before it must."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"INSERT INTO message_search (message_search, rank) VALUES ('automerge', {segments})"
        )
