"""What every room stands on: audit, sealed secrets, mail, ids, idempotency keys."""
