"""Starts servers, loads them with wrk, and tabulates the results of any operations."""
