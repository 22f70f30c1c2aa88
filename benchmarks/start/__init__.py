"""The start time of specd, and the memory of an idle server."""
