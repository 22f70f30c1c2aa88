"""Incoming webhooks of other products: a module each, from what it sends to messages."""
