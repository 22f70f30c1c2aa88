"""Posts webhooks to HTTPS servers in the public Internet, and to none of a private network."""
