"""What bots keep between their runs."""
