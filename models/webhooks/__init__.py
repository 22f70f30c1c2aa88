"""The addresses and the signing of webhooks, for both services."""
