"""What clients call things that have neutral names here: some refuse names they do not know."""

EMOJISETS = {"set_a": "google", "set_b": "twitter"}
CLIENTS_EXTRA = "zulip_extra_emoji"
"""The type of the emoji that this server adds to Unicode's."""
