"""Administering users: created, changed, deactivated."""
