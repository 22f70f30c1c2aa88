"""Code shared by the operations: credentials, context, errors, idempotency."""
