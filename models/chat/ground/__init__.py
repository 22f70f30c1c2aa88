"""What every room stands on: events, audit, sealed secrets, mail, ids, idempotency keys."""
