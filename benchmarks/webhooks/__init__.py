"""Webhooks: how fast events arrive, and whether bad receivers delay the others."""
