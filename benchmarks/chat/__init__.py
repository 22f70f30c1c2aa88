"""The chat service with a realm of a thousand people and up to a million messages."""
