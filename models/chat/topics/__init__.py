"""Topics, and users' policies for them."""
