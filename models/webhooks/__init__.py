"""What both services need to post webhooks: where to, and signed how."""
