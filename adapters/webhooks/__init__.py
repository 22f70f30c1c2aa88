"""The receivers of webhooks: any HTTPS server in the public Internet, and none inside."""
