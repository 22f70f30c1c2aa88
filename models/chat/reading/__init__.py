"""Read messages: narrows, ranges and flags."""
