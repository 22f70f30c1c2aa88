"""OpenAPI documents as data: read from files, joined, walked through."""
