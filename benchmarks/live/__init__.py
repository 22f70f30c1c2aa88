"""Clients that wait for events: their latency, their cost, and the time to notify all of them."""
