"""File stores: a directory, or a server with the S3 protocol."""
