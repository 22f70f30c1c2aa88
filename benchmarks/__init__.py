"""Benchmarks against other products, on one machine in one run. Never installed or shipped."""
