"""Alembic's entry to the payment history: `models.migrate` brings the connection and the lock."""

from alembic import context

from models.payment.tables import Invoice

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Invoice.metadata,
)
with context.begin_transaction():
    context.run_migrations()
