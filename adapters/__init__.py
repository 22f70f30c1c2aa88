"""Outbound systems: one package per system; a protocol, the real thing and a fake for each."""
