"""What a client is given when it registers a queue: the state before the first event."""
