"""The in-process cost of an operation, compared with the minimum for its statements and bytes."""
