"""Measurements against peers, on one machine in one run. Never installed, never shipped."""
