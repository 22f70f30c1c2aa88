"""The operations for HTTP callers: a package per service, a module per tag of its document."""
