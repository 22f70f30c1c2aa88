"""Edit messages: content, channel and topic, with a history of edits."""
