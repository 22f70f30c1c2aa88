"""The demo: all services on one machine, with simulated external services."""
