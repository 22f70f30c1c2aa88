"""Alembic's entry to the payment history: `models.migrate` brings the connection and the lock."""

from alembic import context

from models.payment.webhooks.tables import WebhookEndpoint

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=WebhookEndpoint.metadata,
)
with context.begin_transaction():
    context.run_migrations()
