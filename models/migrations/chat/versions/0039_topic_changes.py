"""How often the topics of a channel have changed otherwise than by a new message, on SQLite."""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

# Somebody else's topic is newer: not a message that was just sent.
IS_OLD = "EXISTS (SELECT 1 FROM topic WHERE channel_id = NEW.channel_id AND max_id > NEW.max_id)"
COUNT = "ON CONFLICT (channel_id) DO UPDATE SET number = number + 1"
TRIGGERS = {
    "topic_inserted": (
        f"AFTER INSERT ON topic WHEN {IS_OLD} BEGIN"
        f" INSERT INTO topic_change VALUES (NEW.channel_id, 1) {COUNT}; END"
    ),
    "topic_updated": (
        "AFTER UPDATE ON topic WHEN NEW.max_id <= OLD.max_id OR NEW.topic_key <> OLD.topic_key"
        f" OR NEW.channel_id <> OLD.channel_id OR {IS_OLD} BEGIN"
        " INSERT INTO topic_change SELECT OLD.channel_id, 1"
        f" UNION SELECT NEW.channel_id, 1 WHERE true {COUNT}; END"
    ),
    "topic_deleted": (
        "AFTER DELETE ON topic BEGIN"
        f" INSERT INTO topic_change VALUES (OLD.channel_id, 1) {COUNT}; END"
    ),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.execute(
        "CREATE TABLE topic_change"
        " (channel_id INTEGER NOT NULL PRIMARY KEY, number INTEGER NOT NULL)"
    )
    for name, what in TRIGGERS.items():
        op.execute(f"CREATE TRIGGER {name} {what}")


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER {name}")
    op.execute("DROP TABLE topic_change")
