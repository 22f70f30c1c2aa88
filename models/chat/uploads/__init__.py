"""Files that users upload: access, links to messages, and removal."""
