"""Zulip's form of an exported organization, and ours: one becomes the other."""
