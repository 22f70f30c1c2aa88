"""What clients are told: a class for each kind of event, and the log that keeps them."""
