"""Messages: access to them, message objects, flags and full-text search."""
