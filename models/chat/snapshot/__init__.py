"""The state before the first event, for a client that registers a queue."""
