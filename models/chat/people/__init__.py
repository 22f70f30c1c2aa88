"""User objects, names, email addresses and statuses."""
