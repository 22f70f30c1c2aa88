"""Users whose messages others do not want to hear of."""
