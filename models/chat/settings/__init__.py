"""Settings of users, with email address and password."""
