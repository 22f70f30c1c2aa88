"""Channels and their subscribers."""
