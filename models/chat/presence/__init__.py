"""Presence: clients report it every minute, and it is visible to users who may see each other."""
