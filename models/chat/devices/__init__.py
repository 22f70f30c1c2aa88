"""Devices and push keys."""
