"""Thumbnails of uploaded pictures, created in a separate process because pictures are untrusted."""
