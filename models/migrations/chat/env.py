"""Alembic's entry to the chat history: `specd._db.migrate` brings the connection and the lock, and
builds indexes from the models.
"""

from alembic import context

from models.chat.tables import Realm

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Realm.metadata,
)
context.config.attributes["models"] = Realm.metadata
with context.begin_transaction():
    context.run_migrations()
