"""Clients that wait for events: how soon they are told, what each costs, how fast all are told."""
