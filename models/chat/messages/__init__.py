"""Messages: written, shown, changed, deleted."""
