"""Search in words of all languages, the same for both databases; an index of alerted copies.

The worker `search_index` fills the new table: all messages are marked as stale.
"""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    alerted = sa.text("flags & 512 <> 0")
    op.create_index(
        "ix_user_message_alerted",
        "user_message",
        ["user_id", "message_id"],
        postgresql_where=alerted,
        sqlite_where=alerted,
    )
    op.execute("DROP TABLE message_search")
    if op.get_bind().dialect.name == "sqlite":
        # The words come stemmed and without accents (models/chat/messages/words.py).
        op.execute(
            "CREATE VIRTUAL TABLE message_search USING fts5(topic, content,"
            " tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* Co'\")"
        )
    else:
        _create_vectors()
    _mark_all()


def downgrade() -> None:
    op.execute("DROP TABLE message_search")
    # What stood before changes rows that are there already.
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE message_search USING fts5("
            "topic, content, tokenize = 'porter unicode61')"
        )
        op.execute(
            "INSERT INTO message_search (rowid, topic, content) SELECT id, '', '' FROM message"
        )
    else:
        _create_vectors()
        op.execute(
            "INSERT INTO message_search (message_id, vector)"
            " SELECT id, CAST('' AS tsvector) FROM message"
        )
    _mark_all()
    op.drop_index("ix_user_message_alerted", table_name="user_message")


def _create_vectors() -> None:
    op.execute(
        "CREATE TABLE message_search (message_id BIGINT NOT NULL,"
        " vector TSVECTOR NOT NULL, CONSTRAINT pk_message_search PRIMARY KEY (message_id))"
    )
    op.execute("CREATE INDEX ix_message_search_vector ON message_search USING gin (vector)")


def _mark_all() -> None:
    op.execute(
        "INSERT INTO stale_search (message_id)"
        " SELECT id FROM message WHERE id NOT IN (SELECT message_id FROM stale_search)"
    )
