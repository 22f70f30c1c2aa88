"""Stars in a table of their own: a star is set and removed without writing the copy again.

Servers of the previous release know stars as a flag of copies. Triggers note what these set and
remove. The flag stays in copies as it was, and its index too, until no such server runs.
"""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

ADD = "INSERT INTO starred_message VALUES (NEW.user_id, NEW.message_id) ON CONFLICT DO NOTHING"
REMOVE = "DELETE FROM starred_message WHERE user_id = NEW.user_id AND message_id = NEW.message_id"
TRIGGERS = {
    "star_copied": ("INSERT", "NEW.flags & 2 <> 0", ADD),
    "star_added": ("UPDATE OF flags", "NEW.flags & 2 <> 0 AND OLD.flags & 2 = 0", ADD),
    "star_removed": ("UPDATE OF flags", "NEW.flags & 2 = 0 AND OLD.flags & 2 <> 0", REMOVE),
}


def upgrade() -> None:
    op.create_table(
        "starred_message",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "message_id", name=op.f("pk_starred_message")),
        sqlite_with_rowid=False,
    )
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for name, (when, condition, action) in TRIGGERS.items():
        event = f"CREATE TRIGGER {name} AFTER {when} ON user_message FOR EACH ROW"
        if is_postgres:
            body = f"BEGIN {action}; RETURN NULL; END"
            op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS '{body}'")
            op.execute(f"{event} WHEN ({condition}) EXECUTE FUNCTION {name}()")
        else:
            op.execute(f"{event} WHEN {condition} BEGIN {action}; END")
    # By the partial index: what this takes grows with the stars, not with the copies.
    op.execute(
        "INSERT INTO starred_message (user_id, message_id)"
        " SELECT user_id, message_id FROM user_message WHERE flags & 2 <> 0"
    )


def downgrade() -> None:
    is_postgres = op.get_bind().dialect.name == "postgresql"
    for name in TRIGGERS:
        on = " ON user_message" if is_postgres else ""
        op.execute(f"DROP TRIGGER {name}{on}")
        if is_postgres:
            op.execute(f"DROP FUNCTION {name}()")
    op.execute("UPDATE user_message SET flags = flags - 2 WHERE flags & 2 <> 0")
    op.execute(
        "UPDATE user_message SET flags = flags + 2 WHERE EXISTS (SELECT 1 FROM starred_message s"
        " WHERE s.user_id = user_message.user_id AND s.message_id = user_message.message_id)"
    )
    op.drop_table("starred_message")
