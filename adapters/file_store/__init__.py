"""Where files are kept: a directory, or a store that speaks S3."""
