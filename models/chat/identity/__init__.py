"""Who acts, and how they prove it."""
