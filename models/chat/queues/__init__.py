"""Event queues: positions of clients in the event log, and the events that each client gets."""
