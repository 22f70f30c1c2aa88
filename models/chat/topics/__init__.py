"""Topics, and the policies of users for them."""
