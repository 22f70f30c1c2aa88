"""The organization: its settings and its lists."""
