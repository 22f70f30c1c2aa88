"""Move organizations between installations while people use them."""
