"""What every package builds on: audit, sealed secrets, mail, ids, idempotency keys."""
