"""Files that users upload: who may get them, which messages show them, and when they go."""
