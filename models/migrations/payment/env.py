"""Alembic's entry to the payment history: `models.migrate` brings the connection and the lock, and
builds indexes from the models.
"""

from alembic import context

from models.payment.webhooks.tables import WebhookEndpoint

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=WebhookEndpoint.metadata,
)
context.config.attributes["models"] = WebhookEndpoint.metadata
with context.begin_transaction():
    context.run_migrations()
