"""What serves the tags of the payment document: credentials, context, errors, idempotency."""
