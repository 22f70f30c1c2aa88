"""Permissions: groups, roles and audiences."""
