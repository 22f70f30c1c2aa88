"""Deleting messages: one, many, all of a sender or a topic, and all that are too old."""
