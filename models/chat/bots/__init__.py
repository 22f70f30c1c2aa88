"""Bots: made, changed and ended by those who manage them."""
