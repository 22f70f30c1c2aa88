"""Event queues: clients' positions in the event log, and the events for each client."""
