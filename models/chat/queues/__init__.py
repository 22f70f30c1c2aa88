"""Event queues: a client's cursor over the event log, and what each client is told of it."""
