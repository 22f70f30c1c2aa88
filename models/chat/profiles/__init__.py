"""Custom profile fields and their values."""
