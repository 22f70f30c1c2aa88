"""Emoji under messages: adding and removing them."""
