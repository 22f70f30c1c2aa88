"""What serves the tags of the chat document: credentials, context, errors, idempotency."""
