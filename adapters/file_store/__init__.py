"""Stores of files: a directory, or a server that speaks S3."""
