"""Bytes: what no parser may see, and multipart bodies."""
