"""Messages that change: their content, their place, and the history of both."""
