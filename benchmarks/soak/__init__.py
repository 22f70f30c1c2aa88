"""An hour of mixed load on both services, to check whether a process grows."""
