"""Events for clients: a class for each kind of event, and the log of events."""
