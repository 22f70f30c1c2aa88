"""What all operations share: credentials, context, errors, limits, idempotency."""
