"""Presence: clients report it every minute, and users who may know each other read it."""
