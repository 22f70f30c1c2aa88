"""Alembic's entry to the chat history: `models.migrate` brings the connection and the lock."""

from alembic import context

from models.chat.tables import Realm

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Realm.metadata,
)
with context.begin_transaction():
    context.run_migrations()
