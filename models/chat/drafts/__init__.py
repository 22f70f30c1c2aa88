"""Unsent messages that the server keeps for all clients of a user."""
