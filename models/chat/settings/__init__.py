"""A user's own settings, email address and password."""
