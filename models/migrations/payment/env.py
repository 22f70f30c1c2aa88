"""Alembic's entry to the payment history: `specd._db.migrate` brings the connection and the lock,
and builds indexes from the models.
"""

from alembic import context

from models.payment.base import PaymentBase
from models.payment.test_helpers.tables import ScenarioRun
from models.payment.webhooks.tables import WebhookEndpoint

TABLES: tuple[type[PaymentBase], ...] = (ScenarioRun, WebhookEndpoint)
"""One of each module of tables, whose import declares the others."""

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES[0].metadata,
)
context.config.attributes["models"] = TABLES[0].metadata
with context.begin_transaction():
    context.run_migrations()
