"""Identify and authenticate callers."""
