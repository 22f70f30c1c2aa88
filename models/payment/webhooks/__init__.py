"""Webhooks: the endpoints to which a project's events are posted, and their deliveries."""
