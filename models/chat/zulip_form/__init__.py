"""Convert organizations between Zulip's export format and our archive format."""
