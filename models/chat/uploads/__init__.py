"""Files that users upload: access to them, the messages that show them, and their removal."""
