"""Texts that users keep to write again."""
