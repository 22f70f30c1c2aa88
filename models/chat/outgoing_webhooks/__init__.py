"""Outgoing webhooks: bots that live at an address, which messages are posted to."""
