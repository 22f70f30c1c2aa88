"""Messages that go: one, many, all that somebody wrote, all that are old."""
