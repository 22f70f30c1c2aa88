"""From what somebody says to a message that others get: drafts, recipients, notices."""
