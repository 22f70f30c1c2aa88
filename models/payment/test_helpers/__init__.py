"""The merchant's test bench: what merchants make happen to see how their shops take it."""
