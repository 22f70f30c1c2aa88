"""Handlers of tasks.yaml."""
