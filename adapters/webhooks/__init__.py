"""Posts webhooks to HTTPS servers on the public Internet, but not to private networks."""
