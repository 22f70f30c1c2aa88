"""The demo: everything on one machine, with stand-ins for the services outside it."""
