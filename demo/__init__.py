"""The demo: everything on one machine, with simulations of the external services."""
