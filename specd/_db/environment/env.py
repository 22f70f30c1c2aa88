"""Alembic's entry to the migrations of every service: `specd._db.migrate` brings the connection,
which has the lock.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
