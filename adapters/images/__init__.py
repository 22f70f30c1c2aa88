"""Pictures that users sent: made small in a process of its own, which may fail."""
