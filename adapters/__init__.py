"""Clients of external systems: one package per system, each with a protocol and implementations."""
