"""Thumbnails of pictures that users sent, made in a process of their own, which may fail."""
