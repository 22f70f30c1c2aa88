"""Foundations of all packages: audit log, sealed secrets, mail, hosts, quotas, idempotency keys."""
