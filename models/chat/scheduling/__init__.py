"""Messages for later, and their delivery."""
