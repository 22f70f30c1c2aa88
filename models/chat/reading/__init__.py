"""Which messages a user reads: narrows, ranges, flags."""
