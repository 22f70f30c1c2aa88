"""Outgoing webhooks: bots whose messages are posted to a URL."""
