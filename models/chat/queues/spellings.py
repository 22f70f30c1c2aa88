"""What clients call things that have neutral names here: some refuse names they do not know."""

EMOJISETS = {"set_a": "google", "set_b": "twitter"}
