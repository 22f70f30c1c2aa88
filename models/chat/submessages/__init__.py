"""What users do with the polls and to-do lists of messages."""
