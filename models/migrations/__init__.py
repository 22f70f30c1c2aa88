"""Alembic histories, one per service, shipped with the package; run by `specd._db.migrate`."""
