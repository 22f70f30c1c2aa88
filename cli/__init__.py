"""The `specd` command: reads settings, builds what a command needs and runs it."""
