"""Webhooks: where a project wants its events posted, and how far each of them has come."""
