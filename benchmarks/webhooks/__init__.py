"""Webhooks: how fast events reach their receivers, and whether bad receivers hold up the others."""
