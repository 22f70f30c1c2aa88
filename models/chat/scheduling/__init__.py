"""Messages for later and reminders, and their delivery."""
